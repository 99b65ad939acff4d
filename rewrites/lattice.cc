#include "rewrites/lattice.h"

#include <algorithm>
#include <cstddef>

namespace kirsch {
namespace {

constexpr uint32_t kMaxRows = 14;      // register-tile heights
constexpr uint32_t kMaxVectors = 6;    // register-tile widths, in vectors
constexpr uint32_t kMaxDotColumns = 6;

// The output's dims: rows, and the dim that vectors run along.
int OutputRowDim(const Spec& spec) { return OuterDim(spec, spec.op_info().output()); }
int OutputVectorDim(const Spec& spec) { return InnerDim(spec, spec.op_info().output()); }

uint32_t WidestLanes(const Spec& spec, const Target& target) {
  return static_cast<uint32_t>(target.vectors.front().bytes / Bytes(spec.out().dtype));
}

uint32_t NarrowestLanes(const Spec& spec, const Target& target) {
  return static_cast<uint32_t>(target.vectors.back().bytes / Bytes(spec.out().dtype));
}

// Appends unit * {2^i * factor / 4} in (above, below), for the factors given (in quarters).
void AppendGeometric(uint32_t unit, uint32_t above, uint32_t below, std::initializer_list<uint32_t> quarters,
                     std::vector<uint32_t>* sizes) {
  for (uint64_t octave = unit; octave < below; octave *= 2)
    for (uint32_t quarter : quarters) {
      const uint64_t value = octave * quarter / 4;
      if (octave * quarter % 4 == 0 && value > above && value < below && value % unit == 0)
        sizes->push_back(static_cast<uint32_t>(value));
    }
}

void AppendRowSizes(uint32_t size, std::vector<uint32_t>* sizes) {
  for (uint32_t rows = 1; rows <= kMaxRows && rows < size; ++rows) sizes->push_back(rows);
  AppendGeometric(1, kMaxRows, size, {4, 6}, sizes);
}

void AppendReductionSizes(uint32_t size, std::vector<uint32_t>* sizes) {
  AppendGeometric(4, 3, size, {4, 6}, sizes);
}

// The panel width the output's vector dim is bound to by a packed operand; 0 if none.
uint32_t BoundPanel(const Spec& spec) {
  const int dim = OutputVectorDim(spec);
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
    if (layout.kind == LayoutKind::kPacked && layout.panel != 0 && InnerDim(spec, operand) == dim)
      return layout.panel;
  }
  return 0;
}

void AppendVectorDimSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  const size_t first = sizes->size();
  if (spec.operand[MatmulDims::kRhs].layout.order == Order::kCol)
    for (uint32_t columns = 1; columns <= kMaxDotColumns && columns < size; ++columns) sizes->push_back(columns);
  const uint32_t narrow = NarrowestLanes(spec, target), wide = WidestLanes(spec, target);
  if (narrow < size) sizes->push_back(narrow);
  for (uint32_t vectors = 1; vectors <= kMaxVectors && vectors * wide < size; ++vectors)
    sizes->push_back(vectors * wide);
  AppendGeometric(wide, kMaxVectors * wide, size, {4, 6}, sizes);
  const uint32_t panel = BoundPanel(spec);
  const auto splits_panel = [&](uint32_t tile) { return panel != 0 && tile % panel != 0; };
  sizes->erase(std::remove_if(sizes->begin() + static_cast<std::ptrdiff_t>(first), sizes->end(), splits_panel),
               sizes->end());
}

}  // namespace

void AppendTileSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  if (spec.op_info().dims[static_cast<size_t>(dim)].reduction) return AppendReductionSizes(size, sizes);
  if (dim == OutputVectorDim(spec)) return AppendVectorDimSizes(spec, dim, target, sizes);
  if (dim == OutputRowDim(spec)) return AppendRowSizes(size, sizes);
  if (size > 1) sizes->push_back(1);
}

void AppendPanelWidths(const Spec& spec, const Target& target, std::vector<uint16_t>* widths) {
  const uint32_t size = spec.size[static_cast<size_t>(OutputVectorDim(spec))];
  const uint32_t narrow = NarrowestLanes(spec, target), wide = WidestLanes(spec, target);
  if (size <= narrow) widths->push_back(static_cast<uint16_t>(narrow));
  for (uint32_t vectors = 1; vectors <= 4; ++vectors) {
    widths->push_back(static_cast<uint16_t>(vectors * wide));
    if (vectors * wide >= size) break;
  }
}

}  // namespace kirsch
