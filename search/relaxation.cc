#include "search/relaxation.h"

#include <algorithm>

#include "spec/microkernel.h"

namespace kirsch {
namespace {

constexpr Layout kDense{LayoutKind::kPacked, Order::kRow, 0, 1, 0};

bool MakeDense(Spec* spec) {
  const uint8_t ideal = IsPlain(*spec) ? 0 : 1;
  bool changed = spec->ideal != ideal;
  spec->ideal = ideal;
  for (int operand = 0; operand < spec->op_info().num_operands; ++operand) {
    Layout& layout = spec->operand[static_cast<size_t>(operand)].layout;
    changed |= !(layout == kDense) || spec->operand[static_cast<size_t>(operand)].moved != 0;
    layout = kDense;
    spec->operand[static_cast<size_t>(operand)].moved = 0;
  }
  return changed;
}

Level SlowestLevel(const Spec& spec) {
  Level slowest = Level::kL1;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    slowest = std::max(slowest, spec.operand[static_cast<size_t>(operand)].level);
  return slowest;
}

// True if no transfer costs more from `near` than from `far`. A target file may say otherwise.
bool CostsNoMore(const MemoryLevel& near, const MemoryLevel& far) {
  return near.cycles_per_line <= far.cycles_per_line &&
         near.shared_cycles_per_line <= far.shared_cycles_per_line &&
         near.unstreamed_cycles_per_line <= far.unstreamed_cycles_per_line &&
         near.ramp_lines <= far.ramp_lines && near.streams >= far.streams &&
         near.lone_cycles_per_line <= far.lone_cycles_per_line &&
         near.unprefetched_cycles_per_line <= far.unprefetched_cycles_per_line &&
         near.prefetch_lines <= far.prefetch_lines && near.prefetch_streams >= far.prefetch_streams &&
         near.cycles_per_page <= far.cycles_per_page && near.write_factor <= far.write_factor &&
         near.overlap >= far.overlap;
}

}  // namespace

std::optional<Relaxation> Relax(const Spec& spec, const CostModel& model) {
  if (spec.threads > 1 || spec.out().level == Level::kVrf || ConstantOperand(spec) >= 0) return std::nullopt;
  if (InnerDim(spec, MatmulDims::kRhs) != InnerDim(spec, spec.op_info().output())) return std::nullopt;
  Relaxation relaxed{spec, 0};
  if (MakeDense(&relaxed.spec)) return relaxed;
  const Level slowest = SlowestLevel(spec);
  if (slowest == Level::kL1) return std::nullopt;
  const Level closer = static_cast<Level>(Index(slowest) - 1);
  const Target& target = model.target();
  if (closer > Level::kL1 && !CostsNoMore(target.at(closer), target.at(slowest))) return std::nullopt;
  relaxed.extra = model.SlowerLevelBound(spec, slowest, closer);
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    TensorSpec& tensor = relaxed.spec.operand[static_cast<size_t>(operand)];
    if (tensor.level == slowest) tensor.level = closer;
  }
  if (closer <= Level::kL2) relaxed.spec.sharers = 1;  // private caches
  return relaxed;
}

}  // namespace kirsch
