// SPDX-License-Identifier: Apache-2.0
// Neighbouring operations of a fusion group that go by rows, as stages.
#ifndef KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_
#define KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/group_shape.h"
#include "rewrites/graph/row_fusion.h"

namespace kirsch {

// What the stages run over: rows of the space; or so many columns of its only row, if that is not 0.
struct RowExtent {
  const IterationSpace& space;
  int64_t rows = 1;
  int64_t flat = 0;
};

class RowStages {
 public:
  // All outlive it. Errors and buffers go to `shape`.
  RowStages(const FusionGroup& group, GroupMemory* memory, GroupShape* shape)
      : group_(group), memory_(*memory), shape_(*shape) {}

  // The operations from place `first` to `end`, all of which go by rows, as few stages as can be.
  std::vector<Stage> Write(size_t first, size_t end, const RowExtent& extent);

 private:
  Stage WriteOne(const std::vector<int>& nodes, size_t next, const RowExtent& extent);
  void AddMatrix(int node, const RowExtent& extent, Stage* stage) const;
  bool Replace(int result, const FusedRows& fused, size_t next, int64_t rows);

  const FusionGroup& group_;
  GroupMemory& memory_;
  GroupShape& shape_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_STAGES_H_
