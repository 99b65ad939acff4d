// SPDX-License-Identifier: Apache-2.0
// Plugs in oneDNN as a peer. Its methods for matmuls are
//
//   - dnnl_sgemm and its siblings for bf16 and integers;
//   - the matmul primitive on plain layouts;
//   - the same primitive with the weights in the layout it likes best, reordered beforehand.
//
// The primitive and its memory objects are made once, as a user of the library would make them.
#include "bench/contenders/peers/onednn.h"

#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

// This function is in the library, though in no header.
extern "C" dnnl_status_t dnnl_gemm_bf16bf16f32(char trans_a, char trans_b, dnnl_dim_t m, dnnl_dim_t n,
                                               dnnl_dim_t k, float alpha, const uint16_t* a, dnnl_dim_t lda,
                                               const uint16_t* b, dnnl_dim_t ldb, float beta, float* c,
                                               dnnl_dim_t ldc);

namespace {

using Dims = dnnl::memory::dims;

// As kirsch_peer_methods lists them; those of graphs follow.
enum Method { kSgemm, kBf16Gemm, kIntegerGemm, kMatmul, kPackedMatmul, kFirstOfGraphs };

dnnl::memory::dim Dim(size_t value) { return static_cast<dnnl::memory::dim>(value); }

// Describes an operand by its strides, so that any order and leading dimension needs no copy.
dnnl::memory::desc Describe(const KirschProblem& problem, KirschType type, size_t rows, size_t cols, bool col,
                            size_t ld, size_t stride) {
  const Dims size = {Dim(problem.batch), Dim(rows), Dim(cols)};
  const Dims strides = {Dim(stride), col ? 1 : Dim(ld), col ? Dim(ld) : 1};
  const size_t skip = problem.batch == 1 ? 1 : 0;  // a batch of one is a plain matrix
  return {Dims(size.begin() + skip, size.end()), DnnlTypeOf(type),
          Dims(strides.begin() + skip, strides.end())};
}

void RunSgemm(const KirschProblem& p);
void RunBf16Gemm(const KirschProblem& p);
void RunIntegerGemm(const KirschProblem& p);

// A matmul by any of the methods. The members below `problem` are for the primitive only.
struct Handle : public OnednnHandle {
  void Run() override {
    if (method == kSgemm) return RunSgemm(*problem);
    if (method == kBf16Gemm) return RunBf16Gemm(*problem);
    if (method == kIntegerGemm) return RunIntegerGemm(*problem);
    matmul.execute(stream, arguments);
    stream.wait();
  }

  Method method;
  const KirschProblem* problem;
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul matmul;
  std::unordered_map<int, dnnl::memory> arguments;
};

// Makes the primitive. False where the layout that it likes best is the plain one: there is nothing to pack,
// and the other method does the same.
bool PrepareMatmul(Handle& handle) {
  const KirschProblem& p = *handle.problem;
  if (p.rhs_type == KIRSCH_S8 && !MultipliesBytes())
    throw dnnl::error(dnnl_unimplemented, "no exact products of bytes");
  const auto lhs = Describe(p, p.lhs_type, p.m, p.k, p.lhs_col != 0, p.lda, p.lhs_stride);
  const auto rhs = Describe(p, p.rhs_type, p.k, p.n, p.rhs_col != 0, p.ldb, p.rhs_stride);
  const auto out = Describe(p, p.out_type, p.m, p.n, false, p.ldc, p.out_stride);
  // Without a layout for the weights, the primitive chooses one.
  const bool pack = handle.method == kPackedMatmul;
  const dnnl::memory::desc any(rhs.dims(), rhs.data_type(), dnnl::memory::format_tag::any);
  dnnl::primitive_attr attributes;
  // A sum as a post-op adds the product to what is in the output.
  if (p.accumulate) {
    dnnl::post_ops add;
    add.append_sum(1.0f);
    attributes.set_post_ops(add);
  }
  handle.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  handle.stream = dnnl::stream(handle.engine);
  const dnnl::matmul::primitive_desc primitive(dnnl::matmul::desc(lhs, pack ? any : rhs, out), attributes,
                                               handle.engine);
  if (pack && primitive.weights_desc() == rhs) return false;
  // The operand in the caller's memory; the packed one is a copy.
  const dnnl::memory plain(rhs, handle.engine, const_cast<void*>(p.rhs));
  handle.matmul = dnnl::matmul(primitive);
  const dnnl::memory weights =
      pack ? handle.Packed(plain, primitive.weights_desc(), handle.engine, handle.stream) : plain;
  handle.arguments = {{DNNL_ARG_SRC, {lhs, handle.engine, const_cast<void*>(p.lhs)}},
                      {DNNL_ARG_WEIGHTS, weights},
                      {DNNL_ARG_DST, {out, handle.engine, p.out}}};
  return true;
}

void RunSgemm(const KirschProblem& p) {
  const float* lhs = static_cast<const float*>(p.lhs);
  const float* rhs = static_cast<const float*>(p.rhs);
  float* out = static_cast<float*>(p.out);
  for (size_t b = 0; b < p.batch; ++b)
    dnnl::sgemm(p.lhs_col ? 'T' : 'N', p.rhs_col ? 'T' : 'N', Dim(p.m), Dim(p.n), Dim(p.k), 1.0f,
                lhs + b * p.lhs_stride, Dim(p.lda), rhs + b * p.rhs_stride, Dim(p.ldb),
                p.accumulate ? 1.0f : 0.0f, out + b * p.out_stride, Dim(p.ldc));
}

// True with avx512_core or any extension of it.
bool MultipliesBf16() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core || isa == dnnl::cpu_isa::avx512_core_vnni ||
         isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
}

// True if the problem is one for dnnl_gemm_bf16bf16f32. Without AVX-512 the library has no product of bf16
// that can be relied on (2.6.3: infinities).
bool TakenByBf16Gemm(const KirschProblem& p) {
  return MultipliesBf16() && p.lhs_type == KIRSCH_BF16 && p.rhs_type == KIRSCH_BF16 &&
         p.out_type == KIRSCH_F32;
}

void RunBf16Gemm(const KirschProblem& p) {
  for (size_t b = 0; b < p.batch; ++b)
    dnnl_gemm_bf16bf16f32(p.lhs_col ? 'T' : 'N', p.rhs_col ? 'T' : 'N', Dim(p.m), Dim(p.n), Dim(p.k), 1.0f,
                          static_cast<const uint16_t*>(p.lhs) + b * p.lhs_stride, Dim(p.lda),
                          static_cast<const uint16_t*>(p.rhs) + b * p.rhs_stride, Dim(p.ldb),
                          p.accumulate ? 1.0f : 0.0f, static_cast<float*>(p.out) + b * p.out_stride,
                          Dim(p.ldc));
}

// True if the problem is one for gemm_u8s8s32 or gemm_s8s8s32.
bool TakenByIntegerGemm(const KirschProblem& p) {
  return MultipliesBytes() && (p.lhs_type == KIRSCH_U8 || p.lhs_type == KIRSCH_S8) &&
         p.rhs_type == KIRSCH_S8 && p.out_type == KIRSCH_S32;
}

void RunIntegerGemm(const KirschProblem& p) {
  const char trans_a = p.lhs_col ? 'T' : 'N', trans_b = p.rhs_col ? 'T' : 'N';
  const float beta = p.accumulate ? 1 : 0;
  const int32_t offset = 0;
  // Two functions, by whether lhs has a sign. Offsets are 0, since types have no zero points here.
  for (size_t b = 0; b < p.batch; ++b) {
    const uint8_t* lhs = static_cast<const uint8_t*>(p.lhs) + b * p.lhs_stride;
    const int8_t* rhs = static_cast<const int8_t*>(p.rhs) + b * p.rhs_stride;
    int32_t* out = static_cast<int32_t*>(p.out) + b * p.out_stride;
    if (p.lhs_type == KIRSCH_U8)
      dnnl::gemm_u8s8s32(trans_a, trans_b, 'F', Dim(p.m), Dim(p.n), Dim(p.k), 1, lhs, Dim(p.lda), 0, rhs,
                         Dim(p.ldb), 0, beta, out, Dim(p.ldc), &offset);
    else
      dnnl::gemm_s8s8s32(trans_a, trans_b, 'F', Dim(p.m), Dim(p.n), Dim(p.k), 1,
                         reinterpret_cast<const int8_t*>(lhs), Dim(p.lda), 0, rhs, Dim(p.ldb), 0, beta, out,
                         Dim(p.ldc), &offset);
  }
}

// Prepares a matmul. Null where the method does not take these types.
std::unique_ptr<OnednnHandle> PrepareProduct(Method method, const KirschProblem& problem) {
  auto handle = std::make_unique<Handle>();
  handle->method = method;
  handle->problem = &problem;
  const bool taken = method == kSgemm         ? kirsch_is_f32(&problem) != 0
                     : method == kBf16Gemm    ? TakenByBf16Gemm(problem)
                     : method == kIntegerGemm ? TakenByIntegerGemm(problem)
                                              : PrepareMatmul(*handle);
  return taken ? std::move(handle) : nullptr;
}

}  // namespace

bool MultipliesBytes() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx2_vnni || (MultipliesBf16() && isa != dnnl::cpu_isa::avx512_core);
}

dnnl::memory::data_type DnnlTypeOf(KirschType type) {
  switch (type) {
    case KIRSCH_F32:
      return dnnl::memory::data_type::f32;
    case KIRSCH_BF16:
      return dnnl::memory::data_type::bf16;
    case KIRSCH_F16:
      return dnnl::memory::data_type::f16;
    case KIRSCH_U8:
      return dnnl::memory::data_type::u8;
    case KIRSCH_S8:
      return dnnl::memory::data_type::s8;
    case KIRSCH_S32:
      return dnnl::memory::data_type::s32;
    default:
      return dnnl::memory::data_type::undef;
  }
}

const char* kirsch_peer_name() {
  // The version that is loaded, which may differ from that of the header.
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

// The default may be AMX; the others are what a host without it has.
const char* kirsch_peer_alternatives() {
  return "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI ONEDNN_MAX_CPU_ISA=AVX2";
}

const char* kirsch_peer_methods() {
  static const std::string names = "sgemm gemm_bf16 gemm_s32 matmul matmul+packed" + GraphMethods();
  return names.c_str();
}

void* kirsch_peer_prepare(int method, const KirschProblem* problem) {
  if ((problem->graph != nullptr) != (method >= kFirstOfGraphs)) return nullptr;
  // Errors are exceptions in oneDNN; none may pass the C interface.
  try {
    return (method < kFirstOfGraphs ? PrepareProduct(static_cast<Method>(method), *problem)
                                    : PrepareGraph(method - kFirstOfGraphs, *problem->graph))
        .release();
  } catch (const dnnl::error&) {  // an operation, a type or a layout that it does not take
    return nullptr;
  }
}

void kirsch_peer_run(void* handle) { static_cast<OnednnHandle*>(handle)->Run(); }

void kirsch_peer_release(void* handle) { delete static_cast<OnednnHandle*>(handle); }

const void* kirsch_peer_packed(void* handle, size_t number, size_t* bytes) {
  const std::vector<dnnl::memory>& packed = static_cast<OnednnHandle*>(handle)->packed();
  if (number >= packed.size()) return nullptr;
  *bytes = packed[number].get_desc().get_size();
  return packed[number].get_data_handle();
}
