// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/row_stages.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "rewrites/graph/along_axis.h"

namespace kirsch {

std::vector<Stage> RowStages::Write(size_t first, size_t end, const RowExtent& extent) {
  std::vector<Stage> stages;
  std::vector<int> nodes;
  for (size_t place = first; place < end; ++place) {
    nodes.push_back(group_.at(place));
    // A narrowed value ends a stage: those that need it must read it as it was rounded.
    if (place + 1 < end && !IsNarrowed(group_.graph(), nodes.back())) continue;
    stages.push_back(WriteOne(std::exchange(nodes, {}), place + 1, extent));
  }
  return stages;
}

// Writes the nodes as one stage. `next` is the place after the last of them: values that are used from there
// on, or elsewhere, are its results.
Stage RowStages::WriteOne(const std::vector<int>& nodes, size_t next, const RowExtent& extent) {
  std::vector<int> wanted;
  std::ranges::copy_if(nodes, std::back_inserter(wanted),
                       [&](int node) { return group_.LastUse(node) >= next; });
  KeptRows::Rows& written = kept_rows_.Fuse(nodes, wanted, extent.space);
  const FusedRows& fused = written.fused();
  if (!written.error().empty()) shape_.Fail(nodes.front(), written.error());
  Stage stage;
  stage.kind = StageKind::kRows;
  stage.rows = extent.rows;
  stage.columns = extent.flat != 0 ? extent.flat : extent.space.columns();
  for (int node : fused.inputs)
    IsSliceOf(nodes, node) ? AddSlice(node, extent, &stage) : AddMatrix(node, extent, &stage);
  for (int node : fused.results) {
    if (node == fused.results.front()) stage.in_place = Replace(node, nodes, next, extent.rows, &written);
    AddMatrix(node, extent, &stage);
    // A program that reduces down the columns stores vectors of columns, so a single value for a row has no
    // place.
    if (extent.space.reduces_rows && extent.space.columns() > 1 &&
        StridesIn(extent.space, group_.graph().at(node).type)->column == 0)
      shape_.Fail(node, "values for each column where columns are reduced");
    memory_.Reserve(node, extent.rows, stage.columns, &shape_);
  }
  stage.program = fused.program;
  return stage;
}

bool RowStages::IsSliceOf(const std::vector<int>& nodes, int node) const {
  return group_.graph().at(node).op == Operation::kSlice && std::ranges::find(nodes, node) != nodes.end();
}

void RowStages::AddMatrix(int node, const RowExtent& extent, Stage* stage) const {
  AddStored(node, group_.graph().at(node).type, extent, stage);
}

// A slice that the program itself makes: it is read in its input's memory.
void RowStages::AddSlice(int slice, const RowExtent& extent, Stage* stage) const {
  const SliceView view = ViewOfSlice(group_.graph(), slice);
  const int input = group_.graph().at(slice).inputs[0];
  if (group_.Makes(input)) shape_.Fail(slice, "no slice of what the same group makes");
  AddStored(input, view.type, extent, stage);
  stage->operands.back().offset += view.offset;
}

void RowStages::AddStored(int node, const TensorType& type, const RowExtent& extent, Stage* stage) const {
  const MatrixStrides strides = StridesIn(extent.space, type).value_or(MatrixStrides{});
  stage->operands.push_back(
      memory_.OperandFor(node, strides.batch, extent.flat != 0 ? strides.column : strides.row));
  stage->row_strides.push_back(strides.row);
}

// Gives the first result the memory of a tile that nobody needs any more. Returns false if there is no such
// tile, or it may not be replaced. An input that is the same for all rows is read again for the next row, so
// it cannot be replaced.
bool RowStages::Replace(int result, const std::vector<int>& nodes, size_t next, int64_t rows,
                        KeptRows::Rows* written) {
  const FusedRows& fused = written->fused();
  if (memory_.SharesMemory(result)) return true;
  if (!group_.IsLocal(result)) return false;
  const auto type = [&](int node) { return group_.graph().at(node).type; };
  for (size_t i = 0; i < fused.inputs.size(); ++i) {
    const int input = fused.inputs[i];
    if (group_.IsLocal(input) && !IsSliceOf(nodes, input) && group_.LastUse(input) < next &&
        type(input) == type(result) && (rows == 1 || fused.program.inputs[i].along_rows) &&
        written->MayReplaceFirst(i)) {
      shape_.replaces = true;  // or would, if it may
      return memory_.Replace(result, input);
    }
  }
  return false;
}

}  // namespace kirsch
