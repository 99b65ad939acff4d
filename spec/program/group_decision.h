// SPDX-License-Identifier: Apache-2.0
// Records what the search decides for a fusion group: operations of a graph that are computed together. A
// GroupDecision is for graphs what a Decision (spec/decision.h) is for specs.
#ifndef KIRSCH_SPEC_PROGRAM_GROUP_DECISION_H_
#define KIRSCH_SPEC_PROGRAM_GROUP_DECISION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spec/decision.h"
#include "spec/level.h"
#include "spec/op.h"

namespace kirsch {

// A rewrite of graphs with its parameters. All names are views of the rewrite's own
// (rewrites/graph/graph_rewrite.h), which outlives all decisions.
struct AppliedRewrite {
  struct Parameter {
    std::string_view name;
    int64_t value = 0;

    friend bool operator==(const Parameter&, const Parameter&) = default;
  };

  std::string_view name;
  std::vector<Parameter> parameters;  // in the rewrite's order

  friend bool operator==(const AppliedRewrite&, const AppliedRewrite&) = default;
};

// How the loop nests of a group come about, apart from copies of operands.
struct GroupCandidate {
  AppliedRewrite rewrite;
  Level keep = Level::kL2;  // the fastest that values between stages may stay in
  bool in_place = true;     // results replace what nobody needs any more, where they can

  friend bool operator==(const GroupCandidate&, const GroupCandidate&) = default;
};

// The whole decision for a group. Stages are numbered over all nests of the group, in their order, without
// copies (NumberedStages in plan.h).
struct GroupDecision {
  // A copy of a matrix, made once, that contractions read instead of the matrix. kNone instead of a decision
  // means that they read the matrix where it lies.
  struct Copy {
    std::vector<int> readers;  // stages
    OpKind op = {};            // of the first of them
    Decision decision;         // kNone: no copy
  };

  // The runners-up, which `explain` prints.
  struct OtherCandidate {
    GroupCandidate candidate;
    double cycles = 0;  // of the group
  };
  struct OtherSplit {
    std::vector<std::vector<int>> groups;  // of each its operations
    double cycles = 0;                     // of the plan
  };

  std::vector<int> operations;  // nodes, ascending
  GroupCandidate candidate;
  bool each = false;  // each of several threads does it for itself
  std::vector<Copy> copies;
  // Set only if the search was asked to explain itself: the second best candidate for the group, and the
  // cheapest plan without this group. Nothing means that there is no other.
  std::optional<OtherCandidate> other_candidate;
  std::optional<OtherSplit> other_split;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_GROUP_DECISION_H_
