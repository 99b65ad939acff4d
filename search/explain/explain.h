// SPDX-License-Identifier: Apache-2.0
// Explains why a program is the way it is: for each node what it costs, moves and holds, and which decision
// came second. It searches nothing but runners-up, and changes no program.
#ifndef KIRSCH_SEARCH_EXPLAIN_EXPLAIN_H_
#define KIRSCH_SEARCH_EXPLAIN_EXPLAIN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/cost_model.h"
#include "cost/tile_facts.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/traffic.h"

namespace kirsch {

// One node of the program tree. Counts are of one run of the node where the field says so; else multiply by
// `runs`.
struct ExplainedNode {
  const Impl* impl = nullptr;
  int depth = 0;
  int64_t trips = 1;                                // of the node, each time its parent runs
  double runs = 1;                                  // of the node in the whole program
  double weight = 1;                                // of those, the ones that take time one after another
  Cost cost = 0;                                    // of one run, what is below included
  Cost own = 0;                                     // the part of it that is the node's own
  Traffic traffic;                                  // of one run; own
  std::array<int64_t, kNumLevels> bytes_held = {};  // by level, while the node runs, what is above included
  std::optional<TileFacts> tile;                    // of a microkernel

  // The next best decision for the node's spec, asked with as many lines. Its kind is kNone if there is no
  // other, or if none costs less than a quarter more than the node's.
  Decision runner_up;
  Cost runner_up_cost = 0;  // of one run
};

// All that `explain` says of a program.
struct Explanation {
  std::vector<ExplainedNode> nodes;  // parents before children, in program order
  Traffic traffic;                   // of all nodes' runs
  Cost bound = 0;                    // no program costs less
  double peak_cycles = 0;            // the arithmetic alone at the peak rate of the target, all threads
};

// Lists the nodes of a program, parents before children, without runners-up. So it needs no memo, and takes
// little time.
std::vector<ExplainedNode> ExplainNodes(const Impl& impl, const CostModel& model);

// The bytes that one run of a node moves by itself, without what its children move.
Traffic TrafficOf(const Expansion& expansion, const Target& target);

// The bytes that all nodes move, each as often as it runs.
Traffic TrafficOf(const std::vector<ExplainedNode>& nodes);

// Explains a program of a placed root, with runners-up. `impl` must live at least as long as the result.
// `memo`: of the search that found it. If it is empty, as behind a table, runners-up take about as long as
// the search.
Explanation Explain(const Impl& impl, const CostModel& model, Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_EXPLAIN_EXPLAIN_H_
