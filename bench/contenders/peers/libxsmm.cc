// SPDX-License-Identifier: Apache-2.0
// Plugs in libxsmm as a peer: its JIT-compiled kernel for small matrices where it takes the problem (one
// thread), and its tiled gemm, which is parallel by OpenMP.
//
// libxsmm is column-major. Our row-major product is the transposed one with the operands swapped:
//
//   out = lhs * rhs, row-major   is   out^T = rhs^T * lhs^T, column-major: the same bytes, m and n exchanged
#include <libxsmm.h>

#include <memory>
#include <vector>

#include "bench/workload/peer.h"

namespace {

// As kirsch_peer_methods lists them: the kernel, the kernel behind transposing copies, and the gemm.
enum Method { kSmm, kTransposeSmm, kGemm };

// The functions and constants that libxsmm has for a type.
template <typename Real>
struct Functions;
template <>
struct Functions<float> {
  using Kernel = libxsmm_smmfunction;
  static constexpr auto kDispatch = libxsmm_smmdispatch;
  static constexpr auto kPrecision = LIBXSMM_GEMM_PRECISION_F32;
};
template <>
struct Functions<double> {
  using Kernel = libxsmm_dmmfunction;
  static constexpr auto kDispatch = libxsmm_dmmdispatch;
  static constexpr auto kPrecision = LIBXSMM_GEMM_PRECISION_F64;
};

libxsmm_blasint Int(size_t value) { return static_cast<libxsmm_blasint>(value); }

// A prepared product of either type.
struct Handle {
  virtual ~Handle() = default;
  virtual void Run() = 0;
};

// A product of f32 or f64.
template <typename Real>
class Product : public Handle {
 public:
  Product(Method method, const KirschProblem& problem) : method_(method), problem_(problem) {}

  // False where the method does not take the problem.
  bool Prepare() {
    if (method_ == kGemm) return true;
    const bool transposed = problem_.lhs_col || problem_.rhs_col;
    // The kernel runs on one thread, and takes plain operands only. So one of its two methods applies.
    if (problem_.threads > 1 || transposed != (method_ == kTransposeSmm)) return false;
    kernel_ = Dispatch();
    if (kernel_ == nullptr) return false;
    // Copies are filled in each run; only their memory is made here.
    if (problem_.lhs_col) lhs_copy_.resize(problem_.m * problem_.k);
    if (problem_.rhs_col) rhs_copy_.resize(problem_.k * problem_.n);
    return true;
  }

  void Run() override { method_ == kGemm ? RunGemm() : RunSmm(); }

 private:
  const Real* lhs(size_t batch) const {
    return static_cast<const Real*>(problem_.lhs) + batch * problem_.lhs_stride;
  }
  const Real* rhs(size_t batch) const {
    return static_cast<const Real*>(problem_.rhs) + batch * problem_.rhs_stride;
  }
  Real* out(size_t batch) const { return static_cast<Real*>(problem_.out) + batch * problem_.out_stride; }
  Real beta() const { return problem_.accumulate ? 1 : 0; }

  // Compiles the kernel for these sizes. Copies of transposed operands have their own leading dimensions.
  typename Functions<Real>::Kernel Dispatch() const {
    const KirschProblem& p = problem_;
    const libxsmm_blasint lda = Int(p.rhs_col ? p.n : p.ldb), ldb = Int(p.lhs_col ? p.k : p.lda),
                          ldc = Int(p.ldc);
    const Real alpha = 1, beta = this->beta();
    const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_PREFETCH_NONE;
    return Functions<Real>::kDispatch(Int(p.n), Int(p.m), Int(p.k), &lda, &ldb, &ldc, &alpha, &beta, &flags,
                                      &prefetch);
  }

  // Returns the operand with its rows contiguous, as the kernel takes it: itself, or a copy. The copy is part
  // of the run.
  static const Real* Upright(const Real* operand, bool col, std::vector<Real>& copy, size_t rows,
                             size_t columns, size_t ld) {
    if (!col) return operand;
    libxsmm_otrans(copy.data(), operand, sizeof(Real), Int(rows), Int(columns), Int(ld), Int(columns));
    return copy.data();
  }

  void RunSmm() {
    const KirschProblem& p = problem_;
    for (size_t b = 0; b < p.batch; ++b) {
      const Real* const left = Upright(lhs(b), p.lhs_col != 0, lhs_copy_, p.m, p.k, p.lda);
      const Real* const right = Upright(rhs(b), p.rhs_col != 0, rhs_copy_, p.k, p.n, p.ldb);
      kernel_(right, left, out(b));
    }
  }

  // The gemm takes transposed operands as they are.
  void RunGemm() const {
    const KirschProblem& p = problem_;
    const char trans_a = p.rhs_col ? 'T' : 'N', trans_b = p.lhs_col ? 'T' : 'N';
    const libxsmm_blasint m = Int(p.n), n = Int(p.m), k = Int(p.k);
    const libxsmm_blasint lda = Int(p.ldb), ldb = Int(p.lda), ldc = Int(p.ldc);
    const Real alpha = 1, beta = this->beta();
    for (size_t b = 0; b < p.batch; ++b)
      libxsmm_xgemm_omp(Functions<Real>::kPrecision, Functions<Real>::kPrecision, &trans_a, &trans_b, &m, &n,
                        &k, &alpha, rhs(b), &lda, lhs(b), &ldb, &beta, out(b), &ldc);
  }

  const Method method_;
  const KirschProblem& problem_;
  typename Functions<Real>::Kernel kernel_ = nullptr;
  std::vector<Real> lhs_copy_, rhs_copy_;  // transposed, of the operands that need it
};

template <typename Real>
Handle* Prepared(Method method, const KirschProblem& problem) {
  libxsmm_init();
  auto product = std::make_unique<Product<Real>>(method, problem);
  return product->Prepare() ? product.release() : nullptr;
}

}  // namespace

// The version comes from the package, as Debian's header does not say it.
const char* kirsch_peer_name() { return "libxsmm " KIRSCH_LIBXSMM_VERSION; }

const char* kirsch_peer_core() { return libxsmm_get_target_arch(); }

const char* kirsch_peer_alternatives() { return "LIBXSMM_TARGET=hsw LIBXSMM_TARGET=skx"; }

const char* kirsch_peer_methods() { return "smm otrans+smm gemm_omp"; }

void* kirsch_peer_prepare(int method, const KirschProblem* problem) {
  if (kirsch_is_f32(problem)) return Prepared<float>(static_cast<Method>(method), *problem);
  if (kirsch_is_f64(problem)) return Prepared<double>(static_cast<Method>(method), *problem);
  return nullptr;
}

void kirsch_peer_run(void* handle) { static_cast<Handle*>(handle)->Run(); }

void kirsch_peer_release(void* handle) { delete static_cast<Handle*>(handle); }
