// SPDX-License-Identifier: Apache-2.0
// Writes neighbouring operations of a fusion group that go by rows as stages of a loop nest.
//
//   {scale, softmax, cast to bf16, exp}  ->  a row program that ends in the bf16 values, then one for exp
#ifndef KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_
#define KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/graph_rewrite.h"
#include "rewrites/graph/group_shape.h"
#include "rewrites/graph/kept_rows.h"

namespace kirsch {

// What the stages run over: `rows` rows of the space; or, if `flat` is not 0, so many columns of its only
// row.
struct RowExtent {
  const IterationSpace& space;
  int64_t rows = 1;
  int64_t flat = 0;
};

// Writes the stages of one tile of a group. In-place results are remembered by the memory, so that the rest
// of the rows is written alike.
class RowStages {
 public:
  // All three outlive it. Errors and buffers go to `shape`.
  RowStages(const GroupProblem& problem, GroupMemory* memory, GroupShape* shape)
      : group_(problem.group),
        own_rows_(group_.uses()),
        kept_rows_(problem.kept_rows != nullptr ? *problem.kept_rows : own_rows_),
        memory_(*memory),
        shape_(*shape) {}

  // Writes the operations from place `first` to `end`, all of which go by rows, as few stages as can be.
  std::vector<Stage> Write(size_t first, size_t end, const RowExtent& extent);

 private:
  Stage WriteOne(const std::vector<int>& nodes, size_t next, const RowExtent& extent);
  bool IsSliceOf(const std::vector<int>& nodes, int node) const;
  void AddMatrix(int node, const RowExtent& extent, Stage* stage) const;
  void AddSlice(int slice, const RowExtent& extent, Stage* stage) const;
  void AddStored(int node, const TensorType& type, const RowExtent& extent, Stage* stage) const;
  bool Replace(int result, const std::vector<int>& nodes, size_t next, int64_t rows, KeptRows::Rows* written);

  const FusionGroup& group_;
  KeptRows own_rows_;  // where none are kept
  KeptRows& kept_rows_;
  GroupMemory& memory_;
  GroupShape& shape_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_
