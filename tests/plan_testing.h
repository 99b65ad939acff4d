// Plans of kernels given as text: found, and verified as machine code.
#ifndef KIRSCH_TESTS_PLAN_TESTING_H_
#define KIRSCH_TESTS_PLAN_TESTING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "codegen/host_cpu.h"
#include "codegen/lower.h"
#include "codegen/verify.h"
#include "memo/hash_memo.h"
#include "rewrites/graph_groups.h"
#include "search/constant_copies.h"
#include "search/plan_search.h"
#include "search/stage_cost.h"
#include "spec/graph_parser.h"
#include "spec/graph_shorthand.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {

// With a memo of its own.
inline absl::StatusOr<PlanResult> PlanWith(PlanOptions options, const Graph& graph, const Target& target) {
  const CostModel model(target);
  HashMemo memo;
  options.solve = [&](const Spec& placed) { return Search(placed, model, memo, {}); };
  return SearchPlan(graph, "test", model, options);
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
  return kirsch::VerifyPlan(plan, target, HeaderOf(plan, target), options);
}

// All of a graph as one choice makes it, whatever it costs; threads share the tiles of its groups.
inline Plan PlanBy(const Graph& graph, const GroupChoice& choice, const Target& target,
                   Sharing sharing = Sharing::kNone) {
  const GraphUses uses(graph);
  GroupShape shape = ShapeGroup(uses, choice, static_cast<int>(graph.nodes.size()));
  EXPECT_EQ(shape.error, "");
  const CostModel model(target);
  HashMemo memo;
  Plan plan;
  plan.graph = graph;
  plan.ahead = std::move(shape.ahead);
  plan.groups = std::move(shape.groups);
  for (Group& group : plan.groups) {
    group.sharing = sharing;
    for (std::vector<Stage>* stages : {&group.before, &group.once, &group.stages, &group.rest})
      for (Stage& stage : *stages)
        if (stage.kind == StageKind::kContraction)
          stage.impl = Search(PlaceOperands(stage.spec, Residency::kWarm, target), model, memo, {}).impl;
        else
          PriceStage(std::vector<Level>(stage.operands.size(), Level::kL2), target, &stage);
  }
  plan.buffers = std::move(shape.buffers);
  CopyConstants(target, &plan);
  return plan;
}

// All ways of a graph's only group.
inline std::vector<GroupChoice> ChoicesOf(const Graph& graph) {
  const GraphUses uses(graph);
  return ShapeGroup(uses, {0, uses.operations().size()}, static_cast<int>(graph.nodes.size())).others;
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

class PlanTest : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    target_ = GetParam();
    const std::string missing = MissingOnHost(target_.features);
    if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  }
  Target target_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_PLAN_TESTING_H_
