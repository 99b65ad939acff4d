// oneDNN as a peer: dnnl_sgemm and the matmul primitive, both on plain layouts. The primitive and its memory
// objects are made once, as a library user would.
#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

#include "bench/peers/peer.h"

namespace {

using Dims = dnnl::memory::dims;

enum Method { kSgemm, kMatmul };

dnnl::memory::dim Dim(size_t value) { return static_cast<dnnl::memory::dim>(value); }

dnnl::memory::desc Describe(const KirschProblem& problem, size_t rows, size_t cols, bool col, size_t ld,
                            size_t stride) {
  const Dims size = {Dim(problem.batch), Dim(rows), Dim(cols)};
  const Dims strides = {Dim(stride), col ? 1 : Dim(ld), col ? Dim(ld) : 1};
  const size_t skip = problem.batch == 1 ? 1 : 0;  // a batch of one is a plain matrix
  return {Dims(size.begin() + skip, size.end()), dnnl::memory::data_type::f32,
          Dims(strides.begin() + skip, strides.end())};
}

struct Handle {
  Method method;
  const KirschProblem* problem;
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul matmul;
  std::unordered_map<int, dnnl::memory> arguments;
};

void PrepareMatmul(Handle& handle) {
  const KirschProblem& p = *handle.problem;
  const auto lhs = Describe(p, p.m, p.k, p.lhs_col != 0, p.lda, p.lhs_stride);
  const auto rhs = Describe(p, p.k, p.n, p.rhs_col != 0, p.ldb, p.rhs_stride);
  const auto out = Describe(p, p.m, p.n, false, p.ldc, p.out_stride);
  dnnl::primitive_attr attributes;
  if (p.accumulate) {
    dnnl::post_ops add;
    add.append_sum(1.0f);
    attributes.set_post_ops(add);
  }
  handle.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  handle.stream = dnnl::stream(handle.engine);
  handle.matmul = dnnl::matmul({dnnl::matmul::desc(lhs, rhs, out), attributes, handle.engine});
  handle.arguments = {{DNNL_ARG_SRC, {lhs, handle.engine, const_cast<float*>(p.lhs)}},
                      {DNNL_ARG_WEIGHTS, {rhs, handle.engine, const_cast<float*>(p.rhs)}},
                      {DNNL_ARG_DST, {out, handle.engine, p.out}}};
}

void RunSgemm(const KirschProblem& p) {
  for (size_t b = 0; b < p.batch; ++b)
    dnnl::sgemm(p.lhs_col ? 'T' : 'N', p.rhs_col ? 'T' : 'N', Dim(p.m), Dim(p.n), Dim(p.k), 1.0f,
                p.lhs + b * p.lhs_stride, Dim(p.lda), p.rhs + b * p.rhs_stride, Dim(p.ldb),
                p.accumulate ? 1.0f : 0.0f, p.out + b * p.out_stride, Dim(p.ldc));
}

}  // namespace

const char* kirsch_peer_name() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl::version();
    return "onednn " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return name.c_str();
}

const char* kirsch_peer_core() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "";
  }
}

const char* kirsch_peer_alternatives() { return "ONEDNN_MAX_CPU_ISA=AVX2"; }

const char* kirsch_peer_methods() { return "sgemm matmul"; }

void* kirsch_peer_prepare(int method, const KirschProblem* problem) {
  auto handle = std::make_unique<Handle>();
  handle->method = static_cast<Method>(method);
  handle->problem = problem;
  if (handle->method == kMatmul) {
    try {
      PrepareMatmul(*handle);
    } catch (const dnnl::error&) {
      return nullptr;
    }
  }
  return handle.release();
}

void kirsch_peer_run(void* opaque) {
  Handle& handle = *static_cast<Handle*>(opaque);
  if (handle.method == kSgemm) return RunSgemm(*handle.problem);
  handle.matmul.execute(handle.stream, handle.arguments);
  handle.stream.wait();
}

void kirsch_peer_release(void* handle) { delete static_cast<Handle*>(handle); }
