#include "spec/microkernel.h"

#include "spec/check.h"

namespace kirsch {
namespace {

// Registers beside the accumulators: the rhs vectors of one step, one broadcast, and AVX2's mask operand.
// With a single row, rhs vectors are memory operands of the FMA and need no register of their own.
int Operands(const RegisterTile& tile, const VectorUnit& unit) {
  const int vectors = tile.rows == 1 ? 1 : tile.columns;
  return vectors + 1 + (tile.masked_rhs && !unit.masks ? 1 : 0);
}

}  // namespace

RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers) {
  constexpr int kRhs = MatmulDims::kRhs;
  const TileExtent out = ExtentOf(spec, spec.op_info().output());
  RegisterTile tile;
  tile.form = registers.kind;
  tile.lanes = registers.panel;
  tile.rows = static_cast<int>(out.outer);
  tile.columns = static_cast<int>(out.inner);
  if (tile.form == LayoutKind::kVectors) {
    tile.columns = static_cast<int>((out.inner + tile.lanes - 1) / tile.lanes);
    tile.masked_rhs = out.inner % tile.lanes != 0 && spec.operand[kRhs].layout.kind == LayoutKind::kStrided;
  }
  return tile;
}

const VectorUnit& UnitWithLanes(const Target& target, int lanes, Dtype dtype) {
  for (const VectorUnit& unit : target.vectors)
    if (unit.bytes == lanes * Bytes(dtype)) return unit;
  KIRSCH_CHECK(false && "no vector unit with that many lanes");
}

int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit) {
  return tile.accumulators() + Operands(tile, unit);
}

int KSplit(const RegisterTile& tile, const VectorUnit& unit) {
  const double wanted = unit.fma_latency * unit.fma_per_cycle;
  int sets = 1;
  while (sets < 4 && tile.accumulators() * sets < wanted &&
         tile.accumulators() * sets * 2 + Operands(tile, unit) <= unit.registers)
    sets *= 2;
  return sets;
}

int PrefetchSteps(const Spec& spec) {
  constexpr int kSteps = 8;
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  if (rhs.layout.kind != LayoutKind::kStrided || rhs.layout.order != Order::kRow) return 0;
  return rhs.level == Level::kL3 ? kSteps : 0;
}

}  // namespace kirsch
