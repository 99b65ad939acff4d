// SPDX-License-Identifier: Apache-2.0
#include "spec/program/kernel_shape.h"

#include <algorithm>

#include "spec/check.h"
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

// Only tiles and packs know symbolic strides, and only kernels with columns have a tail.
bool HasSymbolicStride(const TileShape& tile) {
  return tile.lhs.symbolic_stride || tile.rhs.symbolic_stride || tile.out.symbolic_stride ||
         tile.asked.symbolic_stride;
}
bool HasSymbolicStride(const PackShape& pack) { return pack.from.symbolic_stride; }
template <typename Shape>
bool HasSymbolicStride(const Shape&) {
  return false;
}

bool HasRuntimeTail(const TileShape& tile) { return tile.runtime_n_tail != 0; }
bool HasRuntimeTail(const PackShape& pack) { return pack.runtime_n_tail != 0; }
bool HasRuntimeTail(const RowShape& rows) { return rows.any_columns; }
template <typename Shape>
bool HasRuntimeTail(const Shape&) {
  return false;
}

// Each run-time member is resolved and then switched off, so that equal constants mean equal shapes.
void SetValues(TileShape* tile, const RunValues& values) {
  for (MatrixLayout* layout : {&tile->lhs, &tile->rhs, &tile->out, &tile->asked})
    *layout = layout->ForSize(values.size);
  if (tile->runtime_n_tail != 0) tile->n += values.last - tile->runtime_n_tail;
  tile->runtime_n_tail = 0;
  if (tile->runtime_k_tail) tile->k_tail = values.count % tile->step();
  tile->runtime_k_tail = false;
  if (tile->runtime_beta) tile->accumulate = values.adds != 0;
  tile->runtime_beta = false;
}
void SetValues(PackShape* pack, const RunValues& values) {
  pack->from = pack->from.ForSize(values.size);
  if (pack->runtime_n_tail != 0) pack->inner += values.last - pack->runtime_n_tail;
  pack->runtime_n_tail = 0;
  if (pack->runtime_extent == PackAxis::kOuter) pack->outer = values.count;
  if (pack->runtime_extent == PackAxis::kInner) pack->inner = values.count;
  pack->runtime_extent = PackAxis::kNone;
}
void SetValues(RowShape* rows, const RunValues& values) {
  if (rows->any_columns) rows->columns = values.last;
  rows->any_columns = false;
  for (std::vector<int64_t>* strides : {&rows->input_row_strides, &rows->result_row_strides})
    std::replace(strides->begin(), strides->end(), kDenseRows, rows->columns);
}
template <typename Shape>
void SetValues(Shape*, const RunValues&) {}

// The operand that a kernel stores to: out, a row program's results, or the second of a copy.
bool Writes(const TileShape&, size_t operand) { return operand == MatmulDims::kOut; }
bool Writes(const RowShape& rows, size_t operand) { return operand >= rows.program.inputs.size(); }
template <typename Copy>
bool Writes(const Copy&, size_t operand) {
  return operand == 1;
}

}  // namespace

bool RowShape::TakesScratch() const { return ScratchElements(schedule, columns) > 0; }

bool TakesSize(const KernelShape& kernel) {
  return std::visit([](const auto& shape) { return HasSymbolicStride(shape); }, kernel);
}

bool TakesLast(const KernelShape& kernel) {
  return std::visit([](const auto& shape) { return HasRuntimeTail(shape); }, kernel);
}

KernelShape ForValues(KernelShape kernel, const RunValues& values) {
  std::visit([&](auto& shape) { SetValues(&shape, values); }, kernel);
  return kernel;
}

std::vector<Dtype> OperandTypes(const KernelShape& kernel) {
  return std::visit([](const auto& shape) { return TypesOf(shape); }, kernel);
}

bool IsWritten(const KernelShape& kernel, size_t operand) {
  return std::visit([&](const auto& shape) { return Writes(shape, operand); }, kernel);
}

}  // namespace kirsch
