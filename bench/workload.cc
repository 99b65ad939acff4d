#include "bench/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "bench/arena.h"
#include "bench/element.h"

namespace kirsch {
namespace {

struct Stored {
  size_t ld, stride;
  int col;
};

Stored StoredOf(const Spec& spec, int operand) {
  const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
  const size_t ld = layout.ld;
  return {ld, static_cast<size_t>(ExtentOf(spec, operand).outer) * ld, layout.order == Order::kCol};
}

KirschType TypeOf(const Spec& spec, int operand) {
  return KirschTypeOf(spec.operand[static_cast<size_t>(operand)].dtype);
}

absl::Status CheckOperand(const Spec& spec, int operand) {
  const TensorSpec& tensor = spec.operand[static_cast<size_t>(operand)];
  const std::string name{spec.op_info().operands[static_cast<size_t>(operand)].name};
  if (tensor.layout.kind != LayoutKind::kStrided)
    return absl::InvalidArgumentError(absl::StrCat("bench: ", name, ": expected a strided matrix"));
  if (tensor.layout.ld < ExtentOf(spec, operand).inner)
    return absl::InvalidArgumentError(absl::StrCat("bench: ", name, ": leading dimension ", tensor.layout.ld,
                                                   ", expected at least ", ExtentOf(spec, operand).inner));
  return absl::OkStatus();
}

// The values of an integer input.
IntegerRange RangeOf(KirschType type, const Problem& problem) {
  const double k = static_cast<double>(problem.k);
  const auto symmetric = [](double limit, double most) {
    const int64_t high = static_cast<int64_t>(std::clamp(limit, 1.0, most));
    return IntegerRange{-high, high};
  };
  if (type == KIRSCH_U8) return {0, 255};
  if (type == KIRSCH_S32) return symmetric(std::sqrt(0x1p30 / k), 0x1p15);
  // A sum of k products with a u8 has a standard deviation of 85 sqrt(k) times this.
  if (problem.out_type == KIRSCH_S16) return symmetric(0x1p15 / (85 * std::sqrt(k)), 127);
  return {-128, 127};
}

std::array<size_t, 3> OperandBytes(const Problem& problem) {
  return {LhsElements(problem) * BytesOf(problem.lhs_type), RhsElements(problem) * BytesOf(problem.rhs_type),
          OutElements(problem) * BytesOf(problem.out_type)};
}

}  // namespace

absl::StatusOr<Problem> MakeProblem(const Spec& spec, int threads) {
  if (spec.op != OpKind::kMatmul || spec.block != 0)
    return absl::InvalidArgumentError(
        "bench: expected a matmul without an epilogue and column-blocks, as the peers have it");
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
  problem.lhs_type = TypeOf(spec, MatmulDims::kLhs);
  problem.rhs_type = TypeOf(spec, MatmulDims::kRhs);
  problem.out_type = TypeOf(spec, MatmulDims::kOut);
  problem.lhs_col = lhs.col, problem.rhs_col = rhs.col;
  problem.accumulate = spec.accumulate;
  problem.threads = threads;
  return problem;
}

size_t LhsElements(const Problem& problem) { return problem.batch * problem.lhs_stride; }
size_t RhsElements(const Problem& problem) { return problem.batch * problem.rhs_stride; }
size_t OutElements(const Problem& problem) { return problem.batch * problem.out_stride; }

size_t PlacedBytes(const Problem& problem) { return PlacedBytes(OperandBytes(problem)); }

void Place(void* memory, Problem& problem) {
  const std::vector<void*> places = PlaceBuffers(memory, OperandBytes(problem));
  problem.lhs = places[0];
  problem.rhs = places[1];
  problem.out = places[2];
}

std::vector<absl::Span<const char>> OperandMemory(const Problem& problem) {
  const std::array<size_t, 3> bytes = OperandBytes(problem);
  return {{static_cast<const char*>(problem.lhs), bytes[0]},
          {static_cast<const char*>(problem.rhs), bytes[1]},
          {static_cast<const char*>(problem.out), bytes[2]}};
}

void FillInputs(const Problem& problem) {
  const auto fill = [&problem](const void* values, KirschType type, size_t count, uint64_t seed) {
    FillElements(const_cast<void*>(values), type, count, seed, RangeOf(type, problem));
  };
  fill(problem.lhs, problem.lhs_type, LhsElements(problem), 1);
  fill(problem.rhs, problem.rhs_type, RhsElements(problem), 2);
}

void FillOutput(const Problem& problem) {
  if (problem.accumulate)
    FillElements(problem.out, problem.out_type, OutElements(problem), 3, {-1000, 1000});
  else
    std::memset(problem.out, 0xff, OutElements(problem) * BytesOf(problem.out_type));
}

double Flops(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.m) *
         static_cast<double>(problem.k) * static_cast<double>(problem.n);
}

double CompulsoryBytes(const Problem& problem) {
  const auto bytes = [](size_t elements, KirschType type) {
    return static_cast<double>(elements) * static_cast<double>(BytesOf(type));
  };
  const Problem& p = problem;
  return bytes(p.batch * p.m * p.k, p.lhs_type) + bytes(p.batch * p.k * p.n, p.rhs_type) +
         bytes(p.batch * p.m * p.n, p.out_type) * (p.accumulate ? 2 : 1);
}

}  // namespace kirsch
