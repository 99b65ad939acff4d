// SPDX-License-Identifier: Apache-2.0
// Says where one program first departs from another one, in words of its schedule.
#ifndef KIRSCH_SEARCH_RANKING_DEPARTURE_H_
#define KIRSCH_SEARCH_RANKING_DEPARTURE_H_

#include <string>
#include <vector>

#include "spec/program/program_tree.h"

namespace kirsch {

struct Departure {
  // "at 0.1"; of plans "groups", "group v3 out, candidate" or "group v3 out, contraction 0 at root". Empty:
  // nowhere.
  std::string where;
  std::string best, instead;  // what is decided there
  // The node of a contraction's program: which child, from the root, and its spec. Of plans both are empty.
  std::vector<int> path = {};
  std::string spec = {};
};

// Says where `program` first departs from `best`, depth first. Both must be of the same spec or graph.
Departure CompareWithBest(const ProgramTree& program, const ProgramTree& best);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_DEPARTURE_H_
