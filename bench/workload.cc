#include "bench/workload.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"

namespace kirsch {
namespace {

constexpr size_t kPage = 4096;
// Where the operands start within a page: a third of it apart, in whole lines.
constexpr size_t kStagger = 21 * 64;

size_t RoundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// SplitMix64 of the index: any element can be had without those before it.
float ValueAt(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<float>(static_cast<int32_t>(z >> 40) - (1 << 23)) * 0x1p-23f;
}

void Fill(float* values, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) values[i] = ValueAt(seed, i);
}

struct Stored {
  size_t ld, stride;
  int col;
};

Stored StoredOf(const Spec& spec, int operand) {
  const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
  const size_t ld = layout.ld;
  return {ld, static_cast<size_t>(ExtentOf(spec, operand).outer) * ld, layout.order == Order::kCol};
}

absl::Status CheckOperand(const Spec& spec, int operand) {
  const TensorSpec& tensor = spec.operand[static_cast<size_t>(operand)];
  const std::string name{spec.op_info().operands[static_cast<size_t>(operand)].name};
  if (tensor.dtype != Dtype::kF32 || tensor.layout.kind != LayoutKind::kStrided)
    return absl::InvalidArgumentError(absl::StrCat("bench: ", name, ": expected a strided f32 matrix"));
  if (tensor.layout.ld < ExtentOf(spec, operand).inner)
    return absl::InvalidArgumentError(absl::StrCat("bench: ", name, ": leading dimension ", tensor.layout.ld,
                                                   ", expected at least ", ExtentOf(spec, operand).inner));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Problem> MakeProblem(const Spec& spec, int threads) {
  if (spec.op != OpKind::kMatmul) return absl::InvalidArgumentError("bench: expected a matmul");
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    if (absl::Status status = CheckOperand(spec, operand); !status.ok()) return status;
  if (spec.out().layout.order != Order::kRow)
    return absl::InvalidArgumentError("bench: out: expected row order (a canonical spec)");
  const Stored lhs = StoredOf(spec, MatmulDims::kLhs);
  const Stored rhs = StoredOf(spec, MatmulDims::kRhs);
  const Stored out = StoredOf(spec, MatmulDims::kOut);
  Problem problem = {};
  problem.batch = spec.size[MatmulDims::kB];
  problem.m = spec.size[MatmulDims::kM];
  problem.k = spec.size[MatmulDims::kK];
  problem.n = spec.size[MatmulDims::kN];
  problem.lda = lhs.ld, problem.ldb = rhs.ld, problem.ldc = out.ld;
  problem.lhs_stride = lhs.stride, problem.rhs_stride = rhs.stride, problem.out_stride = out.stride;
  problem.lhs_col = lhs.col, problem.rhs_col = rhs.col;
  problem.accumulate = spec.accumulate;
  problem.threads = threads;
  return problem;
}

size_t LhsElements(const Problem& problem) { return problem.batch * problem.lhs_stride; }
size_t RhsElements(const Problem& problem) { return problem.batch * problem.rhs_stride; }
size_t OutElements(const Problem& problem) { return problem.batch * problem.out_stride; }

size_t PlacedBytes(const Problem& problem) {
  const size_t elements[] = {LhsElements(problem), RhsElements(problem), OutElements(problem)};
  size_t bytes = 0;
  for (size_t i = 0; i < 3; ++i) bytes += RoundUp(i * kStagger + elements[i] * sizeof(float), kPage);
  return bytes;
}

void Place(void* memory, Problem& problem) {
  char* next = static_cast<char*>(memory);
  size_t offset = 0;
  const auto take = [&next, &offset](size_t elements) {
    float* operand = reinterpret_cast<float*>(next + offset);
    next += RoundUp(offset + elements * sizeof(float), kPage);
    offset += kStagger;
    return operand;
  };
  problem.lhs = take(LhsElements(problem));
  problem.rhs = take(RhsElements(problem));
  problem.out = take(OutElements(problem));
}

void FillInputs(const Problem& problem) {
  Fill(const_cast<float*>(problem.lhs), LhsElements(problem), 1);
  Fill(const_cast<float*>(problem.rhs), RhsElements(problem), 2);
}

void FillOutput(const Problem& problem) {
  if (problem.accumulate) return Fill(problem.out, OutElements(problem), 3);
  for (size_t i = 0; i < OutElements(problem); ++i) problem.out[i] = std::numeric_limits<float>::quiet_NaN();
}

double Flops(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
         static_cast<double>(problem.k) * static_cast<double>(problem.n);
}

}  // namespace kirsch
