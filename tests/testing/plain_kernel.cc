// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/plain_kernel.h"

#include "spec/element_array.h"
#include "spec/storage.h"

namespace kirsch::testing {
namespace {

// What the accumulator makes of an exact number: rounds it, or wraps it around.
double Rounded(double x, Dtype accumulator) {
  if (accumulator == Dtype::kF64) return x;
  if (accumulator == Dtype::kF16Sums) return static_cast<double>(static_cast<_Float16>(x));
  if (IsFloating(accumulator)) return static_cast<float>(x);
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(x)));
}

double Product(double a, double b, Dtype accumulator) {
  if (IsFloating(accumulator)) return Rounded(a * b, accumulator);
  const auto word = [](double x) { return static_cast<uint32_t>(static_cast<int32_t>(x)); };
  return static_cast<int32_t>(word(a) * word(b));
}

double Element(const Spec& spec, const Flaw& flaw, const void* lhs, const void* rhs, int64_t i, int64_t j,
               double sum) {
  const AxisArray a = RootStrides(spec, MatmulDims::kLhs), b = RootStrides(spec, MatmulDims::kRhs);
  const Dtype accumulator = AccumulatorOf(spec.out().dtype);
  for (int64_t p = 0; p < spec.size[MatmulDims::kK]; ++p) {
    const double product =
        Product(LoadElement(spec.operand[MatmulDims::kLhs].dtype, lhs, i * a[1] + p * a[2]),
                LoadElement(spec.operand[MatmulDims::kRhs].dtype, rhs, p * b[1] + j * b[2]), accumulator);
    sum = Rounded(sum + (flaw.product ? flaw.product(i, j, p, product) : product), accumulator);
    if (flaw.sum) sum = flaw.sum(sum);
  }
  return flaw.value ? flaw.value(i, j, sum) : sum;
}

}  // namespace

Kernel PlainKernel(const Spec& spec, const Flaw& flaw) {
  Kernel kernel;
  kernel.name = "plain";
  kernel.scratch_bytes = 64;
  kernel.run = [spec, flaw](const KernelCall& call) {
    void *const lhs = call.tensors[0], *const rhs = call.tensors[1], *const out = call.tensors[2];
    const AxisArray c = RootStrides(spec, MatmulDims::kOut);
    const Dtype dtype = spec.out().dtype;
    for (int64_t i = static_cast<int64_t>(call.thread); i < spec.size[MatmulDims::kM];
         i += static_cast<int64_t>(call.n_threads))
      for (int64_t j = 0; j < spec.size[MatmulDims::kN]; ++j) {
        const int64_t at = i * c[1] + j * c[2];
        const double before = spec.accumulate ? LoadElement(dtype, out, at) : 0;
        StoreElement(dtype, Element(spec, flaw, lhs, rhs, i, j, before), out, at);
      }
    if (flaw.after && call.thread == 0)
      flaw.after(static_cast<float*>(lhs), static_cast<float*>(rhs), static_cast<float*>(out),
                 static_cast<float*>(call.scratch), call.n_threads);
  };
  return kernel;
}

}  // namespace kirsch::testing
