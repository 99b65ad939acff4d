// SPDX-License-Identifier: Apache-2.0
// Draws programs by chance from the space of a spec: a cost model is fitted to them, and judged by them. No
// search uses them.
#ifndef KIRSCH_SEARCH_SAMPLING_DRAW_PROGRAMS_H_
#define KIRSCH_SEARCH_SAMPLING_DRAW_PROGRAMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/sampling/random.h"
#include "search/solver/solver.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

struct DrawnProgram {
  Impl impl;
  Cost cost = 0;  // as the search would give it
};

// How many times the optimum's cost a drawn program may cost: one from the whole space, and one around the
// optimum.
inline constexpr Cost kFarthestDrawn = 10;
inline constexpr double kFarthestAround = 1.5;

// Draws one program after the other. The draws depend on the spec, the model and the random numbers, not on
// what the memo holds. Not thread-safe; the model and the memo must outlive it.
class ProgramDrawer {
 public:
  // Searches for the optimum of a placed root that has room (see Search).
  ProgramDrawer(const Spec& placed_root, const CostModel& model, Memo& memo);
  ProgramDrawer(const ProgramDrawer&) = delete;
  ProgramDrawer& operator=(const ProgramDrawer&) = delete;

  const DrawnProgram& best() const { return best_; }

  // Descends at random: at each spec it takes any decision that fits and whose bound leaves the program
  // within kFarthestDrawn optima. All such decisions are equally likely.
  //
  // Returns nothing if the descent led nowhere. It also gives up on a program of more than some hundred
  // different specs, whose code would be long.
  std::optional<DrawnProgram> DrawAnywhere(Random* random);

  // Replaces the decision of one node of the optimum by another, with the best program below it. The node is
  // one that takes at least a twentieth of the time. Returns nothing if the result is not within
  // kFarthestAround optima.
  std::optional<DrawnProgram> DrawAround(Random* random);

 private:
  // A node of the optimum. `cost`: of one run; `weight`: its runs that take time one after another. `path`:
  // which child, from the root on.
  struct Node {
    const Impl* impl;
    Lines available;
    Cost cost, weight;
    std::vector<size_t> path;
  };

  // The helpers of the constructor and of DrawAround: see draw_programs.cc.
  Cost Visit(const Node& node);
  std::optional<DrawnProgram> Solved(const Spec& spec, Lines available, Cost most);

  const CostModel& model_;
  const Lines available_;
  const SearchOptions options_;
  Solver solver_;
  DrawnProgram best_;
  std::vector<Node> nodes_;
};

// Draws `count` programs of a placed root that has room, no two with the same schedule. There are fewer if
// the space has no more that are easily found. The first is the optimum. Half of the others are drawn
// anywhere, then come those drawn around it. Deterministic.
std::vector<DrawnProgram> DrawPrograms(const Spec& placed_root, const CostModel& model, Memo& memo, int count,
                                       uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_DRAW_PROGRAMS_H_
