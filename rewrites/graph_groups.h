// The rewrites of graphs: which operations are computed together, over which tiles, and how they become
// stages.
//
//   group        operations i..j -> stages over tiles of their rows; what only they use stays in tiles in
//   scratch memory epilogue     contraction, then elementwise operations -> a contraction with an epilogue
//   rows         operations that go by rows -> one row program
//   pad          a convolution of a padded image -> zeros around a copy of the image, then a convolution
//   without padding pack         what all tiles multiply by -> its packed copy, once, then contractions of a
//   constant operand
#ifndef KIRSCH_REWRITES_GRAPH_GROUPS_H_
#define KIRSCH_REWRITES_GRAPH_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "rewrites/graph_uses.h"
#include "spec/plan.h"

namespace kirsch {

struct GroupChoice {
  size_t first = 0, end = 0;  // places in GraphUses::operations
  int64_t tile = 0;           // rows; 0: all
};

// A group without programs, schedules, levels and cycles; `buffers`: those of the values that it makes and
// nobody after it needs, bytes for one tile where they are tiles, and the padded copies, whose numbers begin
// at `next_value`.
struct GroupShape {
  Group group;
  std::vector<Buffer> buffers;
  std::string error;  // not empty: why the operations can't be a group
  int error_node = -1;
};

GroupShape ShapeGroup(const GraphUses& uses, const GroupChoice& choice, int next_value);

// Tiles worth trying for a group that isn't tiled: fewer than its rows.
std::vector<int64_t> GroupTiles(const Group& group);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GROUPS_H_
