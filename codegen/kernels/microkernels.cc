// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/microkernels.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Vector registers of CPUs with AVX-512. Others have 16.
constexpr int kManyRegisters = 32;

// True if rows meet the same elements of lhs in different steps of a trip, as those of a window may. Or if
// columns meet the same bytes of rhs, of which a step takes some bits; or, where columns are decoded one by
// one, the same elements of lhs; so do the channels of groups of lanes. Compilers would keep such an element
// in a register until then, and there are none left.
bool StepsShareElements(const Microkernel& kernel) {
  if (IsInPanels(kernel.rhs.dtype) && (HasNibbles(kernel.rhs.dtype) || HasFactors(kernel.rhs.dtype)))
    return true;
  if (IsOfBlocks(kernel.rhs.dtype) && kernel.tile.form == LayoutKind::kPartialSums)
    return kernel.tile.columns > 1;
  if (kernel.tile.form == LayoutKind::kLanewise) return kernel.tile.lane_group > 1;
  if (kernel.tile.form != LayoutKind::kVectors || kernel.lhs.order != Order::kRow) return false;
  std::set<int64_t> elements;
  for (int row = 0; row < kernel.tile.rows; ++row)
    for (int step = 0; step < kernel.unroll; ++step)
      if (!elements.insert(kernel.lhs.At(row, int64_t{step} * kernel.tile.group())).second) return true;
  return false;
}

}  // namespace

std::string Microkernel::Name() const {
  const std::string group = tile.lane_group > 1 ? Cat("of", tile.lane_group) : "";
  const std::string lanewise = tile.form == LayoutKind::kLanewise ? Cat("lanes", tile.taps, group, "_") : "";
  const bool dot = tile.form == LayoutKind::kPartialSums, fma = tile.arithmetic == Arithmetic::kFma;
  std::string name = Cat(lanewise, tile.form == LayoutKind::kTiles ? "tiles_" : "", dot ? "dot_" : "",
                         dot && fma ? "" : std::string(Info(tile.arithmetic).name), dot && fma ? "" : "_",
                         tile.rows, "x", n.most(), tile.one_set ? "_c" : "_v", tile.lanes, "_", lhs.Name(),
                         "_", rhs.Name(), "_", out.Name());
  if (!n.IsConstant()) name += "_counted";
  if (!k_tail.IsConstant())
    name += "_anyk";
  else if (k_tail != 0)
    Append(&name, "_k", k_tail.most());
  if (!accumulate.IsConstant())
    Append(&name, "_may_add");
  else if (accumulate)
    Append(&name, tile.one_chain ? "_from" : "_add");
  if (sum_levels != 0) Append(&name, "_blocks", sum_levels);
  for (const EpilogueStep& step : epilogue) {
    Append(&name, "_", std::string(kirsch::Name(step.op)));
    if (step.operand == EpilogueOperand::kNumber) Append(&name, absl::Hex(step.number));
  }
  for (const EpilogueArgument& argument : arguments)
    Append(&name, "_", argument.columns ? "n" : "s", argument.row_stride);
  if (asked_lines != 0) Append(&name, "_asks", asked_lines, asked.Name());
  if (prefetch_k() != 0) Append(&name, "_k", prefetch_k(), "ahead");
  if (prefetch_n() != 0)
    Append(&name, "_n", prefetch_n(),
           prefetches_in_order  ? "inorder"
           : prefetches_into_l2 ? "l2ahead"
                                : "ahead");
  if (prefetch_out) Append(&name, "_far");
  return name;
}

std::vector<int64_t> Microkernel::Counts(int64_t k) const {
  // Indices from one step of a loop to the next, and those that all of its steps cover. A loop at `level`
  // goes over that digit of a window's reduction; the outermost covers all of k.
  const auto unit = [&](int level) { return level == 0 ? step() : reduction.unit(level); };
  const auto covered = [&](int level) {
    return level + 1 < reduction.digits ? reduction.unit(level + 1) : k;
  };
  // The main loop and its rest share the steps of the lowest digit that is not taken whole.
  const int64_t steps = covered(whole_digits) / unit(whole_digits);
  std::vector<int64_t> counts = {steps / at_once()};
  if (has_rest()) counts.push_back(steps % at_once());
  for (int level = whole_digits + 1; level < reduction.digits; ++level)
    counts.push_back(covered(level) / unit(level));
  return counts;
}

void FitToRegisters(const VectorUnit& unit, Microkernel* kernel) {
  // The same function tells the cost model how the main loop is unrolled.
  const MainLoop loop = MainLoopOf(kernel->tile, unit, kernel->reduction);
  kernel->k_split = loop.sets;
  kernel->whole_digits = loop.whole_digits;
  kernel->unroll = loop.unroll;
  if (unit.registers >= kManyRegisters) {
    kernel->fence_steps = StepsShareElements(*kernel);
    return;
  }
  // With few registers, compilers load operands so early that the accumulators have to make room for them.
  RegisterTile all_sets = kernel->tile;
  all_sets.rows = kernel->tile.sum_rows() * kernel->k_split;
  kernel->fence_steps = true;
  kernel->fence_rows = RegistersNeeded(all_sets, unit) >= unit.registers;
}

Procedure MicrokernelProcedure(const Microkernel& kernel) {
  switch (kernel.tile.form) {
    case LayoutKind::kVectors:
      return kernel.tile.instruction().scales ? PanelProductProcedure(kernel) : OuterProductProcedure(kernel);
    case LayoutKind::kPartialSums:
      return kernel.tile.instruction().scales ? CodeProductProcedure(kernel) : DotProductProcedure(kernel);
    case LayoutKind::kLanewise:
      return LanewiseProcedure(kernel);
    case LayoutKind::kTiles:
      return TileProductProcedure(kernel);
    case LayoutKind::kStrided:
    case LayoutKind::kPacked:
    case LayoutKind::kWindow:
    case LayoutKind::kChains:
      break;
  }
  KIRSCH_BUG("not a register layout");
}

}  // namespace kirsch
