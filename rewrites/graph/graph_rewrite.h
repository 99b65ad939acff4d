// SPDX-License-Identifier: Apache-2.0
// Declares what a rewrite of graphs is: a way to compute a fusion group, with parameters, and the loop nests
// of stages that it makes of the group. README.md lists all of them. A rewrite says what is legal; what is
// fast is the search's business.
//
// A rewrite is one file, which ends in a GraphRewrite, and a line of registry.h. The search, schedules and
// the property tests know its name and its parameters only.
//
//   group {matmul, softmax}, rewrite "matmul", parameters {tile 16}
//     -> a nest over tiles of 16 rows: contraction into scratch memory, row program from there to the result
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

// Values of a rewrite's parameters, in its own order. Those that it does not have are not looked at.
inline constexpr size_t kMaxParametersOfRewrites = 3;
using RewriteParameters = std::array<int64_t, kMaxParametersOfRewrites>;

class KeptRows;

// A group to be rewritten, and all else that a rewrite may depend on. Only views: what it refers to outlives
// it.
struct GroupProblem {
  const FusionGroup& group;
  const Target& target;
  int threads = 1;              // that share its tiles
  bool allow_winograd = false;  // see PlanOptions
  // For each node: does its type have the KV length, and is that a symbol? Null if nothing that the group
  // reads or makes does. Else the stages say which keys they are for (Stage::keys).
  const std::vector<bool>* varies = nullptr;
  // The number of rows is to be a symbol: items are a nest's, and no spec's batch.
  bool symbolic_rows = false;
  KeptRows* kept_rows = nullptr;  // the graph's row programs that were written before; null: none are kept

  // True if some value of the group has as many rows or columns as there are keys, and that number is a
  // symbol.
  bool symbolic_keys() const { return varies != nullptr; }
  bool Varies(int node) const { return symbolic_keys() && (*varies)[static_cast<size_t>(node)]; }
};

// A decision on how the group is computed, as the search passes it to GraphRewrite::expand.
struct GroupForm {
  RewriteParameters parameters = {};
  bool in_place = true;  // results replace what nobody needs any more, where they can
  // The number of the first buffer that is no node of the graph. A rewrite may use kMaxGroupOperations
  // numbers from there on; those behind them are for copies.
  int next_value = 0;
};

// Says how a rewrite computes a KV length that is a symbol.
enum class KeyUse : uint8_t {
  kNone,    // not at all
  kBlocks,  // block by block, however many there are
  kAtOnce,  // at once, as many as the graph has at most; or what blocks of them leave
};

// A way to compute a group. All functions are pure, so they may be called from any thread.
struct GraphRewrite {
  std::string_view name;                     // in schedules
  std::vector<std::string_view> parameters;  // their names there

  // True if the group has the form that the rewrite is for. Else the other functions are not called.
  bool (*applies)(const GroupProblem& problem);
  // Returns all parameters worth trying, the simplest ones first, in the same order every time.
  std::vector<RewriteParameters> (*enumerate)(const GroupProblem& problem);
  // Makes the loop nests; the shape has an error if that can't be done. Any parameters are safe to pass,
  // since schedules come from users, too.
  GroupShape (*expand)(const GroupProblem& problem, const GroupForm& form);
  KeyUse keys = KeyUse::kNone;  // where the number of keys is any

  // Returns the rewrite with these values, as schedules and plans have it.
  AppliedRewrite With(const RewriteParameters& values) const {
    AppliedRewrite applied{name, {}};
    for (size_t i = 0; i < parameters.size(); ++i) applied.parameters.push_back({parameters[i], values[i]});
    return applied;
  }
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_GRAPH_REWRITE_H_
