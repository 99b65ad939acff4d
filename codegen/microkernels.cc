#include "codegen/microkernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// FMAs in a trip of the main loop, at least: enough that the loop's own instructions disappear beside them.
constexpr int kBodyFmas = 24;
constexpr int kMaxUnroll = 8;
constexpr int kManyRegisters = 32;

}  // namespace

std::string Microkernel::Name() const {
  const bool dot = tile.form == LayoutKind::kPartialSums, fma = tile.arithmetic == Arithmetic::kFma;
  std::string name = absl::StrCat(
      dot ? "dot_" : "", dot && fma ? "" : std::string(Info(tile.arithmetic).name), dot && fma ? "" : "_",
      tile.rows, "x", n, "_v", tile.lanes, "_", lhs.Name(), "_", rhs.Name(), "_", out.Name());
  if (k_tail != 0) absl::StrAppend(&name, "_k", k_tail);
  if (accumulate) absl::StrAppend(&name, tile.one_chain ? "_from" : "_add");
  for (const EpilogueStep& step : epilogue) {
    absl::StrAppend(&name, "_", std::string(kirsch::Name(step.op)));
    if (step.operand == EpilogueOperand::kNumber) absl::StrAppend(&name, absl::Hex(step.number));
  }
  for (const EpilogueArgument& argument : arguments)
    absl::StrAppend(&name, "_", argument.columns ? "n" : "s", argument.row_stride);
  if (prefetch_k != 0) absl::StrAppend(&name, "_k", prefetch_k, "ahead");
  if (prefetch_n != 0) absl::StrAppend(&name, "_n", prefetch_n, "ahead");
  if (prefetch_out) absl::StrAppend(&name, "_far");
  return name;
}

std::vector<int64_t> Microkernel::Counts(int64_t k) const {
  const int64_t steps = k / step();
  if (unroll == 1) return {steps};
  return {steps / unroll, steps % unroll};
}

void FitToRegisters(const VectorUnit& unit, Microkernel* kernel) {
  kernel->k_split = KSplit(kernel->tile, unit);
  kernel->unroll = std::max(1, kernel->k_split / kernel->parts());
  if (unit.registers < kManyRegisters) {
    // With few registers, compilers copy and spill accumulators that are updated more than once in a trip,
    // and load operands so early that the accumulators have to make room for them.
    RegisterTile all_sets = kernel->tile;
    all_sets.rows = kernel->tile.sum_rows() * kernel->k_split;
    kernel->fence_steps = true;
    kernel->fence_rows = RegistersNeeded(all_sets, unit) >= unit.registers;
    return;
  }
  while (kernel->unroll < kMaxUnroll &&
         kernel->unroll * kernel->parts() * kernel->tile.accumulators() < kBodyFmas)
    kernel->unroll *= 2;
}

Procedure MicrokernelProcedure(const Microkernel& kernel) {
  switch (kernel.tile.form) {
    case LayoutKind::kVectors:
      return OuterProductProcedure(kernel);
    case LayoutKind::kPartialSums:
      return DotProductProcedure(kernel);
    case LayoutKind::kStrided:
    case LayoutKind::kPacked:
      break;
  }
  KIRSCH_CHECK(false && "not a register layout");
}

}  // namespace kirsch
