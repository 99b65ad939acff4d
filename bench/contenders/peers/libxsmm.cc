// SPDX-License-Identifier: Apache-2.0
// libxsmm as a peer: its JIT-compiled small-matrix kernel where it takes the problem (one thread), and its
// tiled, OpenMP-parallel gemm. libxsmm is column-major: our row-major product is the transposed one with the
// operands swapped.
#include <libxsmm.h>

#include <memory>
#include <vector>

#include "bench/workload/peer.h"

namespace {

enum Method { kSmm, kTransposeSmm, kGemm };

struct Handle {
  Method method;
  const KirschProblem* problem;
  libxsmm_smmfunction kernel = nullptr;
  std::vector<float> lhs, rhs;  // transposed copies, of the operands that need one
};

const float* Lhs(const KirschProblem& p) { return static_cast<const float*>(p.lhs); }
const float* Rhs(const KirschProblem& p) { return static_cast<const float*>(p.rhs); }
float* Out(const KirschProblem& p) { return static_cast<float*>(p.out); }
libxsmm_blasint Int(size_t value) { return static_cast<libxsmm_blasint>(value); }
float Beta(const KirschProblem& p) { return p.accumulate ? 1.0f : 0.0f; }

libxsmm_smmfunction Dispatch(const KirschProblem& p) {
  const libxsmm_blasint lda = Int(p.rhs_col ? p.n : p.ldb), ldb = Int(p.lhs_col ? p.k : p.lda),
                        ldc = Int(p.ldc);
  const float alpha = 1, beta = Beta(p);
  const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_PREFETCH_NONE;
  return libxsmm_smmdispatch(Int(p.n), Int(p.m), Int(p.k), &lda, &ldb, &ldc, &alpha, &beta, &flags,
                             &prefetch);
}

// The operand with its rows contiguous, as the kernel takes it: itself, or a copy.
const float* Upright(const float* operand, bool col, std::vector<float>& copy, size_t rows, size_t columns,
                     size_t ld) {
  if (!col) return operand;
  libxsmm_otrans(copy.data(), operand, sizeof(float), Int(rows), Int(columns), Int(ld), Int(columns));
  return copy.data();
}

void RunSmm(Handle& handle) {
  const KirschProblem& p = *handle.problem;
  for (size_t b = 0; b < p.batch; ++b) {
    const float* lhs = Upright(Lhs(p) + b * p.lhs_stride, p.lhs_col != 0, handle.lhs, p.m, p.k, p.lda);
    const float* rhs = Upright(Rhs(p) + b * p.rhs_stride, p.rhs_col != 0, handle.rhs, p.k, p.n, p.ldb);
    handle.kernel(rhs, lhs, Out(p) + b * p.out_stride);
  }
}

void RunGemm(const KirschProblem& p) {
  const char trans_a = p.rhs_col ? 'T' : 'N', trans_b = p.lhs_col ? 'T' : 'N';
  const libxsmm_blasint m = Int(p.n), n = Int(p.m), k = Int(p.k);
  const libxsmm_blasint lda = Int(p.ldb), ldb = Int(p.lda), ldc = Int(p.ldc);
  const float alpha = 1, beta = Beta(p);
  for (size_t b = 0; b < p.batch; ++b)
    libxsmm_xgemm_omp(LIBXSMM_GEMM_PRECISION_F32, LIBXSMM_GEMM_PRECISION_F32, &trans_a, &trans_b, &m, &n, &k,
                      &alpha, Rhs(p) + b * p.rhs_stride, &lda, Lhs(p) + b * p.lhs_stride, &ldb, &beta,
                      Out(p) + b * p.out_stride, &ldc);
}

}  // namespace

// The version comes from the package: Debian's header does not say it.
const char* kirsch_peer_name() { return "libxsmm " KIRSCH_LIBXSMM_VERSION; }

const char* kirsch_peer_core() { return libxsmm_get_target_arch(); }

const char* kirsch_peer_alternatives() { return "LIBXSMM_TARGET=hsw LIBXSMM_TARGET=skx"; }

const char* kirsch_peer_methods() { return "smm otrans+smm gemm_omp"; }

void* kirsch_peer_prepare(int method, const KirschProblem* problem) {
  if (!kirsch_is_f32(problem)) return nullptr;
  libxsmm_init();
  auto handle = std::make_unique<Handle>();
  handle->method = static_cast<Method>(method);
  handle->problem = problem;
  if (handle->method != kGemm) {
    const bool transposed = problem->lhs_col || problem->rhs_col;
    // The kernel runs on one thread.
    if (problem->threads > 1 || transposed != (handle->method == kTransposeSmm)) return nullptr;
    handle->kernel = Dispatch(*problem);
    if (handle->kernel == nullptr) return nullptr;
    if (problem->lhs_col) handle->lhs.resize(problem->m * problem->k);
    if (problem->rhs_col) handle->rhs.resize(problem->k * problem->n);
  }
  return handle.release();
}

void kirsch_peer_run(void* opaque) {
  Handle& handle = *static_cast<Handle*>(opaque);
  handle.method == kGemm ? RunGemm(*handle.problem) : RunSmm(handle);
}

void kirsch_peer_release(void* handle) { delete static_cast<Handle*>(handle); }
