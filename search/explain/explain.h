// SPDX-License-Identifier: Apache-2.0
// Why a program is the way it is: what each of its nodes costs, moves and holds, and which decision came
// second.
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

struct ExplainedNode {
  const Impl* impl = nullptr;
  int depth = 0;
  int64_t trips = 1;                                // of the node, each time its parent runs
  double runs = 1;                                  // of the node in the whole program
  double weight = 1;                                // runs that take time one after another
  Cost cost = 0;                                    // of one run, what is below included
  Cost own = 0;                                     // the part of it that is the node's own
  Traffic traffic;                                  // of one run; own
  std::array<int64_t, kNumLevels> bytes_held = {};  // by level, while the node runs, what is above included
  std::optional<TileFacts> tile;                    // of a microkernel

  // The next best decision for the node's spec; its kind is kNone if there is no other, or none that was
  // found to cost less than twice as much.
  Decision runner_up;
  Cost runner_up_cost = 0;  // of one run
};

struct Explanation {
  std::vector<ExplainedNode> nodes;  // parents before children, in program order
  Traffic traffic;                   // of all nodes' runs
  Cost bound = 0;                    // no program costs less
  double peak_cycles = 0;            // the arithmetic alone at the peak rate of the target, all threads
};

// The nodes without runners-up.
std::vector<ExplainedNode> ExplainNodes(const Impl& impl, const CostModel& model);

// Of one run of a node.
Traffic TrafficOf(const Expansion& expansion, const Target& target);

// Of all nodes, each as often as it runs.
Traffic TrafficOf(const std::vector<ExplainedNode>& nodes);

// `impl`: a program of a placed root, which lives at least as long as the result. `memo`: of the search for
// it, or empty (runners-up are searched then, which takes about as long as the search).
Explanation Explain(const Impl& impl, const CostModel& model, Memo& memo);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_EXPLAIN_EXPLAIN_H_
