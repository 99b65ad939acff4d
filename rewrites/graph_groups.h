// The rewrites of graphs: which operations are computed together, over which tiles, and how they become
// stages. README.md lists them.
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
  // Rows, of a convolution those of its output's images, of an elementwise group of few rows elements; 0:
  // all.
  int64_t tile = 0;
  bool by_parts = false;  // a padded convolution without a copy (convolution_parts.h)
  // By Winograd's algorithm, in squares of so many outputs along each side; 0: not. `by_filters`: rows are
  // filters.
  int winograd = 0;
  bool by_filters = false;
};

// A group without programs, schedules, levels and cycles; `buffers`: those of the values that it makes and
// nobody after it needs, bytes for one tile where they are tiles, and the padded copies, whose numbers begin
// at `next_value`.
struct GroupShape {
  std::vector<Stage> ahead;         // what is made of constants, once for all calls
  std::vector<Group> groups;        // several of a convolution by bands or parts
  std::vector<GroupChoice> others;  // of what isn't tiled: what is worth trying, too
  int64_t tile_step = 1;            // other tiles are better multiples of this
  std::vector<Buffer> buffers;
  std::string error;  // not empty: why the operations can't be a group
  int error_node = -1;

  // Makes the value's buffer hold at least so many elements.
  void Reserve(int value, int64_t elements, Dtype dtype);
};

GroupShape ShapeGroup(const GraphUses& uses, const GroupChoice& choice, int next_value);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GROUPS_H_
