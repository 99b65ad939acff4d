// SPDX-License-Identifier: Apache-2.0
// Holds the loop nests that a rewrite of graphs makes of a fusion group, before the search prices them.
#ifndef KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_
#define KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_

#include <map>
#include <string>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "spec/program/plan.h"

namespace kirsch {

// Loop nests without programs, schedules, levels and cycles, which the search fills in. `buffers` are those
// of copies, and of values that the nests make and nobody after them needs: bytes for one tile where they are
// tiles.
struct GroupShape {
  std::vector<Stage> prepacks;  // what is made of constants, once for all calls
  std::vector<LoopNest> nests;  // several of a convolution by bands or parts
  std::vector<Buffer> buffers;
  bool replaces = false;  // a result has the memory of a tile that is read, or might have
  std::string error;      // not empty: why the group can't be rewritten so
  int error_node = -1;

  // Makes the value's buffer hold at least so many elements. It grows if the whole tiles and the rest both
  // ask.
  void Reserve(int value, int64_t elements, Dtype dtype);
  // Notes why the group can't be rewritten so, and at which node. Only the first error is kept.
  void Fail(int node, std::string why);
};

// Decides where the values of a group lie. One that nobody outside needs is a tile in scratch memory, which
// is used again for each tile of rows. All others are stored whole.
//
// Invariant: values that share memory are of the same type, and the earlier one is not read any more.
class GroupMemory {
 public:
  // `in_place`: may results take the place of tiles that nobody needs any more? The group outlives this.
  GroupMemory(const FusionGroup& group, bool in_place) : group_(group), in_place_(in_place) {}

  // Returns the value whose memory holds the node: itself, or the one that it has replaced.
  int MemoryOf(int node) const;
  bool SharesMemory(int node) const { return alias_.contains(node); }
  // Returns the node as a stage's operand. A tile begins at the same place for each item and row of the nest,
  // so the strides are for values that are stored whole.
  StageOperand OperandFor(int node, int64_t batch_stride, int64_t row_stride) const;
  // Notes the memory of a value that is made; `rows` and `columns` are those of a tile. The kernel's result
  // is the caller's memory.
  void Reserve(int node, int64_t rows, int64_t columns, GroupShape* shape) const;
  // Gives a result the memory of a tile of its type. Returns false if that is not allowed.
  bool Replace(int result, int input);

 private:
  const FusionGroup& group_;
  const bool in_place_;
  std::map<int, int> alias_;  // results, and what they replace
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GROUP_SHAPE_H_
