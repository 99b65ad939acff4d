// SPDX-License-Identifier: Apache-2.0
// Plans of kernels given as text: found, and verified as machine code.
#ifndef KIRSCH_TESTS_TESTING_PLAN_TESTING_H_
#define KIRSCH_TESTS_TESTING_PLAN_TESTING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower.h"
#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/graph_rewrite.h"
#include "rewrites/graph/registry.h"
#include "search/graph/constant_copies.h"
#include "search/graph/plan_search.h"
#include "search/graph/stage_cost.h"
#include "search/solver/replay.h"
#include "spec/language/graph_parser.h"
#include "spec/language/graph_shorthand.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {

// As PlanOptions::solve.
inline SearchResult SearchBelow(const Spec& placed, Cost cutoff, const CostModel& model, Memo& memo) {
  SearchOptions options;
  options.cutoff = cutoff;
  return Search(placed, model, memo, options);
}

// With a memo of its own.
inline absl::StatusOr<PlanResult> PlanWith(PlanOptions options, const Graph& graph, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  SearchStages(model, memo, &options);
  return Require(SearchPlan(graph, "test", model, options));
}

inline absl::StatusOr<PlanResult> PlanOf(const Graph& graph, const Target& target, int threads,
                                         bool fuse = true) {
  PlanOptions options;
  options.threads = threads;
  options.fuse = fuse;
  return PlanWith(options, graph, target);
}

inline Graph GraphOf(const std::string& text) {
  const auto graph = IsGraphShorthand(text) ? ParseGraphShorthand({text, {}}, "test")
                                            : ParseGraph(Split({text, {}}, '\n'), "test");
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *graph : Graph{};
}

// A header of one function, `kernel`.
inline HeaderFile HeaderOf(const Plan& plan, const Target& target) {
  HeaderFunction function;
  function.name = "kernel";
  function.text = PrintGraph(plan.graph);
  function.variants = {{target, {Lower(plan, target, "kernel")}, 0, 0, PrintPlan(plan)}};
  return {"kernel", HeaderMode::kAttributes, false, "", "0", {function}};
}

inline VerifyReport VerifyPlan(const Plan& plan, const Target& target, bool header = false) {
  VerifyOptions options;
  options.header = header;
  return kirsch::VerifyKernel(plan, target, HeaderOf(plan, target), options);
}

// A rewrite of all of a graph as one group.
struct Candidate {
  std::string rewrite;
  RewriteParameters parameters = {};
  bool in_place = true;
};

inline OperationSet AllOf(const GraphUses& uses) { return OperationSet::First(uses.operations().size()); }

// Calls use(subset) for each set of these operations that is not empty.
template <typename Use>
void ForEachSubset(const OperationSet& of, Use use) {
  std::vector<size_t> places;
  of.ForEach([&](size_t place) { places.push_back(place); });
  for (uint64_t bits = (uint64_t{1} << places.size()) - 1; bits != 0; --bits) {
    OperationSet subset;
    for (size_t i = 0; i < places.size(); ++i)
      if ((bits >> i & 1) != 0) subset |= OperationSet::Of(places[i]);
    use(subset);
  }
}

// The graph being canonical.
inline GroupShape ShapeBy(const GraphUses& uses, const Candidate& candidate, const Target& target) {
  const FusionGroup group(uses, AllOf(uses));
  const GroupProblem problem{group, target, 1, true};
  const GraphRewrite* const rewrite = FindGraphRewrite(candidate.rewrite);
  return rewrite->expand(
      problem, {candidate.parameters, candidate.in_place, static_cast<int>(uses.graph().nodes.size())});
}

// Whatever it costs; threads share the tiles of its nests.
inline Plan PlanBy(const Graph& asked, const Candidate& candidate, const Target& target,
                   Sharing sharing = Sharing::kNone) {
  const Graph graph = CanonicalGraph(asked);
  GroupShape shape = ShapeBy(GraphUses(graph), candidate, target);
  EXPECT_EQ(shape.error, "");
  const CostModel model(target);
  HashMemo memo;
  Plan plan;
  plan.graph = graph;
  plan.prepacks = std::move(shape.prepacks);
  plan.nests = std::move(shape.nests);
  for (LoopNest& nest : plan.nests) {
    nest.sharing = sharing;
    for (Stage* stage : StagesOf(nest))
      if (stage->kind == StageKind::kContraction)
        stage->impl = Search(PlaceOperands(stage->spec, Residency::kWarm, target), model, memo, {}).impl;
      else
        PriceStage(std::vector<Level>(stage->operands.size(), Level::kL2), target, nullptr, stage);
  }
  plan.buffers = std::move(shape.buffers);
  CopyConstants(target, &plan);
  return plan;
}

// Inputs of a graph: integers from -most to most - 1, whose sums are exact in any order.
inline std::vector<std::vector<float>> SmallIntegers(const Graph& graph, uint32_t most) {
  std::vector<std::vector<float>> inputs;
  uint32_t seed = 1;
  for (int i = 0; i < graph.num_inputs(); ++i) {
    inputs.emplace_back(static_cast<size_t>(graph.at(i).type.elements()));
    for (float& value : inputs.back()) {
      seed = seed * 1664525 + 1013904223;
      value = static_cast<float>((seed >> 16) % (2 * most)) - static_cast<float>(most);
    }
  }
  return inputs;
}

// All candidates that there are, or those of one rewrite.
inline std::vector<Candidate> FindCandidates(const Graph& asked, const Target& target,
                                             std::string_view rewrite = "") {
  const Graph graph = CanonicalGraph(asked);
  const GraphUses uses(graph);
  const FusionGroup group(uses, AllOf(uses));
  const GroupProblem problem{group, target, 1, true};
  std::vector<Candidate> candidates;
  for (const GraphRewrite* each : GraphRewrites()) {
    if ((!rewrite.empty() && each->name != rewrite) || !each->applies(problem)) continue;
    for (const RewriteParameters& parameters : each->enumerate(problem))
      if (const Candidate candidate{std::string(each->name), parameters};
          ShapeBy(uses, candidate, target).error.empty())
        candidates.push_back(candidate);
  }
  return candidates;
}

// Solves and verifies; an empty plan if that fails.
inline Plan VerifiedPlan(const std::string& text, const Target& target, int threads = 1, bool header = false,
                         bool fuse = true) {
  const auto result = PlanOf(GraphOf(text), target, threads, fuse);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << text;
  if (!result.ok()) return {};
  const VerifyReport report = VerifyPlan(result->plan, target, header);
  EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << text << "\n" << PrintPlan(result->plan);
  return result->plan;
}

// The text of the plan.
inline std::string Verified(const std::string& text, const Target& target, int threads = 1,
                            bool header = false) {
  return PrintPlan(VerifiedPlan(text, target, threads, header));
}

// A target where it costs nothing to have threads work and wait, so that even small kernels are shared.
inline Target WithFreeThreads(Target target) {
  target.fork_join_cycles = target.barrier_cycles = 0;
  return target;
}

// More random kernels than usual may be asked for.
inline int Rounds(int usually) {
  const char* const asked = std::getenv("KIRSCH_RANDOM_GRAPHS");
  return asked == nullptr ? usually : std::atoi(asked);
}

using PlanTest = OnTargetTest;

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAN_TESTING_H_
