// SPDX-License-Identifier: Apache-2.0
#include "spec/program/kernel_shape.h"

#include <algorithm>
#include <type_traits>

#include "spec/graph/row_passes.h"

namespace kirsch {
namespace {

// One overload for each kind of kernel; the functions of the header visit the variant with them.
std::vector<Dtype> TypesOf(const TileShape& tile) {
  std::vector<Dtype> types = {tile.lhs.dtype, tile.rhs.dtype, tile.out.dtype};
  for (const EpilogueArgument& argument : tile.arguments) types.push_back(argument.dtype);
  if (tile.asked_lines != 0) types.push_back(tile.asked.dtype);
  return types;
}
std::vector<Dtype> TypesOf(const PackShape& pack) { return {pack.from.dtype, pack.to.dtype}; }
std::vector<Dtype> TypesOf(const CopyShape& copy) { return {copy.dtype, copy.dtype}; }
std::vector<Dtype> TypesOf(const RowShape& rows) {
  std::vector<Dtype> types;
  for (const RowInput& input : rows.program.inputs) types.push_back(input.dtype);
  for (const RowResult& result : rows.program.results) types.push_back(result.dtype);
  if (rows.TakesScratch()) types.push_back(RealOf(rows.program));
  return types;
}
std::vector<Dtype> TypesOf(const TransformShape& transform) {
  const bool stores = transform.stores_image();
  std::vector<Dtype> types = {Dtype::kF32, stores ? transform.stored : Dtype::kF32};
  types.resize(types.size() + static_cast<size_t>(transform.epilogue.operands()), Dtype::kF32);
  return types;
}

// Visits each member that may have a symbol. A shape may be constant.
template <typename Shape, typename Visit>
void ForEachSize(Shape& shape, const Visit& visit) {
  using Kind = std::remove_const_t<Shape>;
  if constexpr (std::is_same_v<Kind, TileShape>) {
    for (auto* layout : {&shape.lhs, &shape.rhs, &shape.out, &shape.asked}) visit(layout->outer_stride);
    for (auto* size : {&shape.n, &shape.accumulate, &shape.k_tail}) visit(*size);
  } else if constexpr (std::is_same_v<Kind, PackShape>) {
    for (auto* size : {&shape.from.outer_stride, &shape.outer, &shape.inner}) visit(*size);
  } else if constexpr (std::is_same_v<Kind, RowShape>) {
    visit(shape.columns);
    for (auto* strides : {&shape.input_row_strides, &shape.result_row_strides})
      std::ranges::for_each(*strides, visit);
  }
}

// The operand that a kernel stores to: out, a row program's results, or the second of a copy.
bool Writes(const TileShape&, size_t operand) { return operand == MatmulDims::kOut; }
bool Writes(const RowShape& rows, size_t operand) { return operand >= rows.program.inputs.size(); }
template <typename Copy>
bool Writes(const Copy&, size_t operand) {
  return operand == 1;
}

}  // namespace

bool RowShape::TakesScratch() const { return ScratchElements(schedule, columns) > 0; }

bool Takes(const KernelShape& kernel, SizeSymbol symbol) {
  bool takes = false;
  const auto look = [&](const Size& size) { takes |= size.symbol() == symbol; };
  std::visit([&](const auto& shape) { ForEachSize(shape, look); }, kernel);
  return takes;
}

KernelShape ForValues(KernelShape kernel, SymbolValues values) {
  if (const auto* const tile = std::get_if<TileShape>(&kernel))
    values[SizeSymbol::kTail] = values[SizeSymbol::kCount] % tile->step();
  std::visit([&](auto& shape) { ForEachSize(shape, [&](Size& size) { size = size.At(values); }); }, kernel);
  return kernel;
}

std::vector<Dtype> OperandTypes(const KernelShape& kernel) {
  return std::visit([](const auto& shape) { return TypesOf(shape); }, kernel);
}

bool IsWritten(const KernelShape& kernel, size_t operand) {
  return std::visit([&](const auto& shape) { return Writes(shape, operand); }, kernel);
}

}  // namespace kirsch
