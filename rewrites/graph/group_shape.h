// SPDX-License-Identifier: Apache-2.0
// What a rewrite of graphs makes of a fusion group: loop nests.
#ifndef KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_
#define KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_

#include <map>
#include <string>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "spec/program/plan.h"

namespace kirsch {

// Loop nests without programs, schedules, levels and cycles; `buffers`: those of the values that they make
// and nobody after them needs, bytes for one tile where they are tiles, and of copies.
struct GroupShape {
  std::vector<Stage> prepacks;  // what is made of constants, once for all calls
  std::vector<LoopNest> nests;  // several of a convolution by bands or parts
  std::vector<Buffer> buffers;
  bool replaces = false;  // a result has the memory of a tile that is read, or might have
  std::string error;      // not empty: why the group can't be rewritten so
  int error_node = -1;

  // Makes the value's buffer hold at least so many elements.
  void Reserve(int value, int64_t elements, Dtype dtype);
  // Notes the first error only.
  void Fail(int node, std::string why);
};

// A group whose values lie where they are made: in tiles in scratch memory if nobody else needs them.
class GroupMemory {
 public:
  // `in_place`: may results take the place of tiles that nobody needs any more?
  GroupMemory(const FusionGroup& group, bool in_place) : group_(group), in_place_(in_place) {}

  // The value whose memory holds the node.
  int MemoryOf(int node) const;
  bool SharesMemory(int node) const { return alias_.contains(node); }
  StageOperand OperandFor(int node, int64_t batch_stride, int64_t row_stride) const;
  // Notes the memory of a value that is made; `rows` and `columns` of a tile.
  void Reserve(int node, int64_t rows, int64_t columns, GroupShape* shape) const;
  // Gives a result the memory of a tile of its type.
  bool Replace(int result, int input);

 private:
  const FusionGroup& group_;
  const bool in_place_;
  std::map<int, int> alias_;  // results, and what they replace
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_
