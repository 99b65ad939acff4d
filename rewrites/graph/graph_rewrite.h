// SPDX-License-Identifier: Apache-2.0
// The rewrites of graphs: how a fusion group may be computed, as decisions and as the loop nests of stages
// that they make. What is fast is the search's business. README.md lists them.
//
// A rewrite is one file, which ends in a GraphRewrite, and a line of registry.h. The search, schedules and
// the property tests know names and parameters only.
#ifndef KIRSCH_REWRITES_GRAPH_GRAPH_REWRITE_H_
#define KIRSCH_REWRITES_GRAPH_GRAPH_REWRITE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/graph/group_shape.h"
#include "spec/program/group_decision.h"
#include "spec/target.h"

namespace kirsch {

inline constexpr size_t kMaxParametersOfRewrites = 3;
using RewriteParameters = std::array<int64_t, kMaxParametersOfRewrites>;

// What is to be rewritten, and what the rewriting may know.
struct GroupProblem {
  const FusionGroup& group;
  const Target& target;
  int threads = 1;              // that share its tiles
  bool allow_winograd = false;  // see PlanOptions
  // By node: does its type have the number of keys, which is to be any? Null: nothing that the group reads or
  // makes does. Else the stages say which keys they are for (Stage::keys).
  const std::vector<bool>* varies = nullptr;

  bool any_rows = false;  // the number of rows is to be any: items are a nest's, and no spec's batch

  bool any_keys() const { return varies != nullptr; }
  bool Varies(int node) const { return any_keys() && (*varies)[static_cast<size_t>(node)]; }
};

// How the decision is carried out.
struct GroupForm {
  RewriteParameters parameters = {};
  bool in_place = true;  // results replace what nobody needs any more, where they can
  // The number of the first buffer that is no node. A rewrite has kMaxOperations of them at most: behind
  // these are those of copies.
  int next_value = 0;
};

// How a rewrite goes by a number of keys that is known when the kernel runs.
enum class KeyUse : uint8_t {
  kNone,    // not at all
  kBlocks,  // block by block, however many there are
  kAtOnce,  // at once, as many as the graph has at most; or what blocks of them leave
};

struct GraphRewrite {
  std::string_view name;                     // in schedules
  std::vector<std::string_view> parameters;  // their names there

  // Has the group the form that the rewrite is for? Else nothing is asked of it.
  bool (*applies)(const GroupProblem& problem);
  // All parameters worth trying, the simplest ones first.
  std::vector<RewriteParameters> (*enumerate)(const GroupProblem& problem);
  // What they make of the group; an error, if it can't be done. Any parameters are safe to pass.
  GroupShape (*expand)(const GroupProblem& problem, const GroupForm& form);
  KeyUse keys = KeyUse::kNone;  // where the number of keys is any

  AppliedRewrite With(const RewriteParameters& values) const {
    AppliedRewrite applied{name, {}};
    for (size_t i = 0; i < parameters.size(); ++i) applied.parameters.push_back({parameters[i], values[i]});
    return applied;
  }
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GRAPH_REWRITE_H_
