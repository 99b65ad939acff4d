// SPDX-License-Identifier: Apache-2.0
#include "search/solver/relaxation.h"

#include <algorithm>

#include "rewrites/spec/rewrite.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// The value of Spec::ideal for the relaxed spec: the inputs that it multiplies without widening or
// interleaving them. Rhs keeps its form if every program multiplies it in that form anyway: then the bound is
// tighter.
uint8_t IdealOf(const Spec& spec) {
  if (IsPlain(spec)) return 0;
  if (spec.ideal != 0 || !RhsIsSettled(spec)) return std::max(spec.ideal, kIdealInputs);
  return MayBeCopied(spec.operand[MatmulDims::kLhs]) ? kIdealLhs : 0;
}

// What a dense rhs says of its way (TensorSpec::resident): 0 where copies that ask for the next tile may
// bring it, or where it is near.
uint8_t WayOf(const Spec& spec, const Target& target) {
  return spec.operand[MatmulDims::kRhs].level <= Level::kL2 || MayAskAhead(spec, target) ? 0 : kResident;
}

// Makes all operands dense; false if they were. An operand whose rows overlap has fewer lines than a dense
// one would have. So it is taken to be in registers, at no cost.
bool MakeDense(const Target& target, Spec* spec) {
  const uint8_t ideal = IdealOf(*spec), way = WayOf(*spec, target);
  bool changed = spec->ideal != ideal;
  spec->ideal = ideal;
  for (int operand = 0; operand < spec->op_info().num_operands; ++operand) {
    TensorSpec& tensor = spec->operand[static_cast<size_t>(operand)];
    Layout dense = kDense;
    if (operand == MatmulDims::kRhs) {
      if (ideal != kIdealInputs) dense.group = tensor.layout.group;
      if (InnerDim(*spec, operand) == MatmulDims::kK) dense.order = Order::kCol;
    }
    const uint8_t resident = operand == MatmulDims::kRhs ? way : 0;
    changed |= !(tensor.layout == dense) || tensor.resident != resident;
    if (Overlaps(*spec, operand)) tensor.level = Level::kVrf;
    tensor.layout = dense;
    tensor.resident = resident;
  }
  return changed;
}

// The cost of bringing an input to L1, at least, with all other operands there. While rhs may be asked for
// ahead, lines of lhs from L2 are among what that hides behind, so they may cost nothing.
Cost BringingBound(const Spec& spec, int operand, const CostModel& model) {
  const bool hides_rhs = operand == MatmulDims::kLhs && spec.operand[MatmulDims::kRhs].level > Level::kL2;
  const Level level = spec.tensor(operand).level, near = hides_rhs ? Level::kL2 : Level::kL1;
  if (level <= near) return 0;
  Spec alone = spec;
  for (int other = 0; other < spec.op_info().num_operands; ++other)
    if (other != operand) alone.tensor(other).level = Level::kL1;
  return model.SlowerLevelBound(alone, level, near);
}

// That of overlapping inputs, which MakeDense leaves out.
Cost OverlappingBound(const Spec& spec, const CostModel& model) {
  Cost bound = 0;
  for (int operand = 0; operand < spec.op_info().output(); ++operand)
    if (Overlaps(spec, operand)) bound += BringingBound(spec, operand, model);
  return bound;
}

Level SlowestLevel(const Spec& spec) {
  Level slowest = Level::kL1;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    slowest = std::max(slowest, spec.tensor(operand).level);
  return slowest;
}

// True if no transfer costs more from `near` than from `far`. A target file may say otherwise, and then step
// 4 would be no bound. Every constant of a level that its transfers are priced by is compared.
bool CostsNoMore(const MemoryLevel& near, const MemoryLevel& far) {
  return near.cycles_per_line <= far.cycles_per_line &&
         near.shared_cycles_per_line <= far.shared_cycles_per_line &&
         near.unstreamed_cycles_per_line <= far.unstreamed_cycles_per_line &&
         near.ramp_lines <= far.ramp_lines && near.streams >= far.streams &&
         near.run_cycles <= far.run_cycles &&
         near.single_stream_cycles_per_line <= far.single_stream_cycles_per_line &&
         near.short_run_cycles_per_line <= far.short_run_cycles_per_line &&
         near.set_conflict_cycles_per_line <= far.set_conflict_cycles_per_line &&
         near.unprefetched_cycles_per_line <= far.unprefetched_cycles_per_line &&
         near.prefetched_cycles_per_line <= far.prefetched_cycles_per_line &&
         near.lhs_contention_cycles_per_line <= far.lhs_contention_cycles_per_line &&
         near.prefetch_lines <= far.prefetch_lines && near.prefetch_streams >= far.prefetch_streams &&
         near.cycles_per_page <= far.cycles_per_page && near.write_factor <= far.write_factor &&
         near.overlap >= far.overlap;
}

// Brings the slowest operands one level closer, and again, until everything is in L1.
std::optional<Relaxation> CloserToL1(const Spec& spec, const CostModel& model) {
  const Target& target = model.target();
  Relaxation relaxed{spec, 0};
  Level slowest = SlowestLevel(spec);
  for (; slowest > Level::kL1; slowest = SlowestLevel(relaxed.spec)) {
    const Level closer = static_cast<Level>(Index(slowest) - 1);
    if (closer > Level::kL1 && !CostsNoMore(target.at(closer), target.at(slowest))) break;
    relaxed.extra += model.SlowerLevelBound(relaxed.spec, slowest, closer);
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
      TensorSpec& tensor = relaxed.spec.tensor(operand);
      if (tensor.level == slowest) tensor.level = closer;
    }
    relaxed.spec.operand[MatmulDims::kRhs].resident = WayOf(relaxed.spec, target);
    // L1 and L2 are private to a core, so other threads make no difference from here on. One relaxed spec
    // then serves all numbers of threads.
    if (closer <= Level::kL2) relaxed.spec.active_threads = 1;
  }
  if (slowest == SlowestLevel(spec)) return std::nullopt;
  return relaxed;
}

}  // namespace

std::optional<Relaxation> Relax(const Spec& spec, const CostModel& model) {
  if (spec.threads > 1 || spec.out().level == Level::kVrf) return std::nullopt;
  // What an extension says of an easier spec says nothing of this one.
  if (model.target().extension != nullptr) return std::nullopt;
  Relaxation relaxed{spec, 0};
  // Step 1. Sums that are of another type than the output cannot be stored as they are.
  if (!spec.op_info().epilogue.empty() && AccumulatorOf(spec) == spec.out().dtype) {
    relaxed.spec = WithoutEpilogue(spec);
    relaxed.extra = model.EpilogueBound(spec);
    return relaxed;
  }
  if (ConstantOperand(spec) >= 0) return std::nullopt;
  // A copy of lhs that rounds it may lead to cheaper products, and what is dense is not copied.
  if (spec.lhs_as != LhsAs::kItself) return std::nullopt;
  // Step 2. What overlaps itself is left out by step 3, together with all strides.
  if (spec.operand[MatmulDims::kLhs].level > Level::kVrf && !Overlaps(spec, MatmulDims::kLhs))
    if (const std::optional<Spec> easier = WithoutLhs(spec, model.target()))
      return Relaxation{*easier, BringingBound(spec, MatmulDims::kLhs, model)};
  const bool along_steps = InnerDim(spec, MatmulDims::kRhs) != InnerDim(spec, spec.op_info().output());
  if (along_steps && (!RhsIsSettled(spec) || spec.operand[MatmulDims::kRhs].level > Level::kL2))
    return std::nullopt;
  // Step 3.
  if (MakeDense(model.target(), &relaxed.spec)) {
    relaxed.extra = OverlappingBound(spec, model);
    return relaxed;
  }
  return CloserToL1(spec, model);
}

}  // namespace kirsch
