// SPDX-License-Identifier: Apache-2.0
// Programs drawn by chance from the space of a spec: what a cost model is fitted to, and judged by.
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

// How far programs may be from the optimum: those drawn from the whole space, and those around the optimum.
inline constexpr Cost kFarthestDrawn = 10;
inline constexpr double kFarthestAround = 1.5;

// One program after the other. What is drawn depends on the spec, the model and the random, not on what the
// memo holds. Not thread-safe; the model and the memo outlive it.
class ProgramDrawer {
 public:
  // Searches for the optimum of a placed root that has room (see Search).
  ProgramDrawer(const Spec& placed_root, const CostModel& model, Memo& memo);
  ProgramDrawer(const ProgramDrawer&) = delete;
  ProgramDrawer& operator=(const ProgramDrawer&) = delete;

  const DrawnProgram& best() const { return best_; }

  // A random descent: at each spec any decision that fits and whose bound leaves the program within
  // kFarthestDrawn optima, each as likely as any other. Nothing where the descent has led nowhere, or to a
  // program of more than some hundred different specs, whose code would be long.
  std::optional<DrawnProgram> DrawAnywhere(Random* random);

  // The optimum with the decision of one node, which takes a twentieth of the time at least, replaced by
  // another, and the best below it. Nothing where that is not within kFarthestAround optima.
  std::optional<DrawnProgram> DrawAround(Random* random);

 private:
  // A node of the optimum, and what it takes to run it once. `path`: which child, from the root on.
  struct Node {
    const Impl* impl;
    Lines available;
    Cost cost, weight;
    std::vector<size_t> path;
  };

  Cost Visit(const Node& node);
  std::optional<DrawnProgram> Solved(const Spec& spec, Lines available, Cost most);

  const CostModel& model_;
  const Lines available_;
  const SearchOptions options_;
  Solver solver_;
  DrawnProgram best_;
  std::vector<Node> nodes_;
};

// `count` programs of a placed root that has room, no two with the same schedule; fewer where the space has
// no more that are easily found. The first is the optimum; half of the others are drawn anywhere, then come
// those drawn around it. Deterministic.
std::vector<DrawnProgram> DrawPrograms(const Spec& placed_root, const CostModel& model, Memo& memo, int count,
                                       uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_DRAW_PROGRAMS_H_
