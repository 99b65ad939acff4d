// SPDX-License-Identifier: Apache-2.0
// The K best plans are those of all plans, each by its schedule, told apart by their Programs' texts.
#include "search/ranking/k_best_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_schedules.h"
#include "search/graph/follow_plan.h"
#include "search/ranking/departure.h"
#include "search/ranking/k_best.h"
#include "spec/language/kernel_file.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/program/plan_program.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

std::string CodeOf(const Plan& plan, const Target& target) {
  return PrintProgram(WriteProgram(plan, target));
}

PlanOptions Options() {
  PlanOptions options;
  options.allow_winograd = true;
  return options;
}

// All plans of a graph for one thread that cost less than a limit, by schedules: any order of groups, each in
// any way, and from there on what differs in one stage at a time, as long as it is cheap enough.
class AllPlans {
 public:
  AllPlans(const Graph& graph, const CostModel& model, double limit)
      : canonical_(CanonicalGraph(graph)),
        uses_(canonical_),
        model_(model),
        limit_(limit),
        follower_(canonical_, "test", model_, memo_, options_) {}

  // By code, the least cycles.
  std::map<std::string, double> Codes() {
    Extend("", {});
    return codes_;
  }

 private:
  // What is behind the schedule is searched, so that no plan that begins with it costs less.
  std::optional<Plan> Cheapest(const std::string& schedule) {
    if (!seen_.insert(schedule).second) return std::nullopt;
    absl::StatusOr<Plan> plan = follower_.With(schedule, "all");
    if (!plan.ok() || plan->cycles >= limit_) return std::nullopt;
    return *std::move(plan);
  }

  void Extend(const std::string& prefix, OperationSet done) {
    const OperationSet all = AllOf(uses_);
    if (done == all) return Vary(prefix);
    ForEachSubset(all - done, [&](const OperationSet& set) {
      const FusionGroup group(uses_, set);
      std::string line = "group";
      for (const int node : group.operations()) line += " " + NameOfValue(canonical_, node);
      line = prefix + line + "\n";
      if (!Cheapest(line)) return;  // no group, or too dear
      for (const std::string& candidate : FindCandidates(group))
        if (Cheapest(line + candidate)) WithCopies(line + candidate, done | set);
    });
  }

  std::vector<std::string> FindCandidates(const FusionGroup& group) const {
    std::vector<std::string> candidates;
    const GroupProblem problem{group, model_.target(), 1, true};
    for (const GraphRewrite* rewrite : GraphRewrites()) {
      if (!rewrite->applies(problem)) continue;
      for (const RewriteParameters& parameters : rewrite->enumerate(problem))
        for (const char* keep : {"L1", "L2"})
          for (const char* in_place : {"", " in-place=no"}) {
            std::string candidate = Cat("  ", rewrite->name);
            for (size_t i = 0; i < rewrite->parameters.size(); ++i)
              Append(&candidate, " ", rewrite->parameters[i], "=", parameters[i]);
            candidates.push_back(Cat(candidate, " keep=", keep, in_place, "\n"));
          }
    }
    return candidates;
  }

  // With each choice of copies for the last group.
  void WithCopies(const std::string& prefix, OperationSet done) {
    const std::optional<Plan> plan = CheapestAgain(prefix);
    std::vector<std::string> choices = {""};
    for (const GroupDecision::Copy& copy : plan->groups[Groups(prefix) - 1].copies) {
      std::vector<std::string> more;
      for (const std::string& chosen : choices)
        for (const std::string& line : CopiesOf(prefix + chosen, copy)) more.push_back(chosen + line);
      choices = std::move(more);
    }
    for (const std::string& chosen : choices)
      if (follower_.With(prefix + chosen, "all").ok()) Extend(prefix + chosen, done);
  }

  static size_t Groups(const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find("group "); at != text.npos; at = text.find("group ", at + 1)) ++count;
    return count;
  }

  // The lines of a schedule that say whether a matrix is copied: it isn't, or lies as a reader would have it.
  std::vector<std::string> CopiesOf(const std::string& prefix, const GroupDecision::Copy& copy) {
    std::vector<std::string> lines;
    const std::optional<Plan> plan = CheapestAgain(prefix);
    if (!plan) return lines;
    std::string readers;
    for (const int reader : copy.readers) Append(&readers, " ", reader);
    for (const std::string operand : {"lhs", "rhs"}) {
      const std::string leave = Cat("  leave", readers, ": ", operand, "\n");
      if (follower_.With(prefix + leave, "all").ok()) lines.push_back(leave);
    }
    if (copy.decision.kind != RewriteKind::kNone)
      lines.push_back(Cat("  copy", readers, ": ", PrintDecision(copy.op, copy.decision), "\n"));
    return lines;
  }

  std::optional<Plan> CheapestAgain(const std::string& schedule) {
    absl::StatusOr<Plan> plan = follower_.With(schedule, "all");
    if (!plan.ok()) return std::nullopt;
    return *std::move(plan);
  }

  // Every combination of programs and schedules of the stages.
  void Vary(const std::string& schedule) {
    const std::optional<Plan> plan = Cheapest(schedule);
    if (plan) VaryFrom(*plan, 0);
  }

  void VaryFrom(const Plan& plan, size_t from) {
    const auto [known, is_new] = codes_.try_emplace(CodeOf(plan, model_.target()), plan.cycles);
    known->second = std::min(known->second, plan.cycles);
    Plan changed = plan;
    std::vector<Stage*> stages;
    for (LoopNest& nest : changed.nests)
      for (Stage* stage : StagesOf(nest)) stages.push_back(stage);
    for (size_t i = from; i < stages.size(); ++i) {
      const Stage before = *stages[i];
      for (const Stage& other : OthersOf(before)) {
        *stages[i] = other;
        absl::StatusOr<Plan> priced = follower_.With(MakeSchedule(changed));
        if (!priced.ok()) continue;  // a schedule that may not be in place
        if (priced->cycles >= limit_) continue;
        VaryFrom(*priced, i + 1);
      }
      *stages[i] = before;
    }
  }

  std::vector<Stage> OthersOf(const Stage& stage) {
    std::vector<Stage> others;
    if (stage.kind == StageKind::kRows)
      for (const RowSchedule& schedule : EnumerateRowSchedules(stage.program, stage.columns, model_.target()))
        if (!(schedule == stage.schedule)) {
          others.push_back(stage);
          others.back().schedule = schedule;
        }
    if (stage.kind == StageKind::kContraction)
      for (const RankedProgram& program : ProgramsOf(stage.spec))
        if (PrintSchedule(std::get<Impl>(program.tree)) != PrintSchedule(stage.impl)) {
          others.push_back(stage);
          others.back().impl = std::get<Impl>(program.tree);
        }
    return others;
  }

  const std::vector<RankedProgram>& ProgramsOf(const Spec& spec) {
    for (const auto& [known, programs] : programs_)
      if (known == spec) return programs;
    programs_.emplace_back(spec, KBest(spec, {40}, model_, memo_, {}).programs);
    return programs_.back().second;
  }

  const Graph canonical_;
  const GraphUses uses_;
  const CostModel& model_;
  const double limit_;
  HashMemo memo_;
  const PlanOptions options_ = Options();
  PlanFollower follower_;
  std::set<std::string> seen_;
  std::map<std::string, double> codes_;
  std::deque<std::pair<Spec, std::vector<RankedProgram>>> programs_;
};

// No two are of the same code, each is what its schedule leads to, and no other plan costs less than the
// last. True if there is another plan than the best.
bool ExpectKBest(const Graph& graph, const Target& target, int count) {
  const CostModel model(target);
  HashMemo memo;
  const auto best = KBestPlans(graph, "test", {count}, model, memo, Options(), {});
  if (!best.ok()) return false;  // not all that can be written has a plan
  EXPECT_TRUE(best->complete);
  EXPECT_FALSE(best->programs.empty());
  const auto found = PlanWith(Options(), graph, target);
  EXPECT_EQ(PrintPlanSchedule(std::get<Plan>(best->programs.front().tree)), PrintPlanSchedule(found->plan));
  std::map<std::string, double> codes;
  PlanOptions options = Options();
  PlanFollower follower(graph, "test", model, memo, options);
  for (const RankedProgram& ranked : best->programs) {
    const std::string code = CodeOf(std::get<Plan>(ranked.tree), target);
    EXPECT_TRUE(codes.emplace(code, ranked.cycles).second) << code;
    const std::string schedule = PrintPlanSchedule(std::get<Plan>(ranked.tree));
    const absl::StatusOr<Plan> followed = follower.With(schedule, "best");
    EXPECT_TRUE(followed.ok()) << followed.status() << "\n" << schedule;
    if (!followed.ok()) continue;
    EXPECT_NEAR(followed->cycles, ranked.cycles, 1e-9 * ranked.cycles) << schedule;
    EXPECT_EQ(CodeOf(*followed, target), code) << schedule;
    EXPECT_EQ(CompareWithBest(ranked.tree, best->programs.front().tree).where.empty(),
              &ranked == &best->programs.front())
        << schedule;
  }
  const bool all = best->programs.size() < static_cast<size_t>(count);
  const double last = best->programs.back().cycles;
  const double limit = all ? 64 * last : last * (1 - 1e-9);
  for (const auto& [code, cycles] : AllPlans(graph, model, limit).Codes()) {
    const auto known = codes.find(code);
    EXPECT_TRUE(known != codes.end())
        << "missing, of " << cycles << " cycles where the last has " << last << "\n"
        << code;
    if (known != codes.end()) {
      EXPECT_NEAR(known->second, cycles, 1e-9 * cycles) << code;
    }
  }
  return best->programs.size() > 1;
}

TEST(KBestPlansTest, AreBruteForce) {
  const char* const graphs[] = {
      "kernel a(x: f32[3,24]):\n return softmax(x)",
      "kernel a(x: f32[2,9], g: f32[9]):\n return relu(rmsnorm(x, g))",
      "kernel a(x: f32[4,5], w: f32[5,6]):\n return softmax(matmul(x, w))",
      "kernel a(x: f32[4,5], w: const f32[5,6]):\n return softmax(matmul(x, w))",
      "kernel a(x: f32[6,3], w: f32[3,4], u: f32[4,5]):\n return matmul(matmul(x, w), u)",
      ("kernel a(x: f32[2,4], y: f32[2,4]):\n a = exp(x)\n b = tanh(y)\n return add(a, "
       "transpose(transpose(b)))"),
      "kernel a(x: f32[1,4,4,3], w: f32[3,3,3,4]):\n return relu(conv2d(x, w, layout=nhwc, pad=1))",
  };
  for (const char* text : graphs) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(ExpectKBest(GraphOf(text), TinyTarget(), 12));
  }
}

TEST(KBestPlansTest, RandomGraphsAreBruteForce) {
  int several = 0;
  for (int round = 0; round < Rounds(40) && !HasFailure(); ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    const std::string text = GrammarText(RandomGrammarGraph(2 + round % 2, random), random);
    const auto requests = ParseKernelFile(text, "test");
    ASSERT_TRUE(requests.ok()) << requests.status();
    if (!requests->front().family.graphs()) continue;  // a spec
    const Graph& graph = requests->front().family.graphs()->member(0);
    // This target's caches need not hold the elements of a block beside what they are multiplied by.
    const auto is_of_blocks = [](const GraphNode& node) { return IsOfBlocks(node.type.dtype); };
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(), is_of_blocks)) continue;
    SCOPED_TRACE(text);
    several += ExpectKBest(graph, TinyTarget(), 6) ? 1 : 0;
  }
  EXPECT_GT(several, 20);
}

// With real sizes, on real caches: the first of many are those that few would be.
TEST(KBestPlansTest, FewerAreTheFirstOfMore) {
  const CostModel model(Avx2Target());
  for (const int threads : {1, 2}) {
    PlanOptions options;
    options.threads = threads;
    const Graph graph = GraphOf("attention f32 heads=4 tokens=96 dim=32");
    HashMemo memo;
    const auto many = KBestPlans(graph, "test", {40}, model, memo, options, {});
    const auto few = KBestPlans(graph, "test", {7}, model, memo, options, {});
    ASSERT_TRUE(many.ok() && few.ok());
    ASSERT_EQ(many->programs.size(), 40u);
    ASSERT_EQ(few->programs.size(), 7u);
    for (size_t i = 0; i < few->programs.size(); ++i)
      EXPECT_EQ(few->programs[i].cycles, many->programs[i].cycles);
  }
}

// What differs only in its stages is taken once, with the cheapest of them.
TEST(KBestPlansTest, CandidatesAlone) {
  const CostModel model(Avx2Target());
  const Graph graph = GraphOf("attention f32 heads=4 tokens=96 dim=32");
  HashMemo memo;
  RankOptions rank{10, Distinct::kCode, 0.25, false};
  const auto candidates = KBestPlans(graph, "test", rank, model, memo, {}, {});
  ASSERT_TRUE(candidates.ok()) << candidates.status();
  EXPECT_GT(candidates->programs.size(), 2u);
  PlanOptions options;
  PlanFollower follower(graph, "test", model, memo, options);
  for (const RankedProgram& ranked : candidates->programs) {
    EXPECT_LT(ranked.cycles, candidates->programs.front().cycles * 1.25);
    std::string above, line;
    std::istringstream lines(PrintPlanSchedule(std::get<Plan>(ranked.tree)));
    while (std::getline(lines, line))
      if (line.rfind("    ", 0) != 0 && line.find("contraction ") == line.npos &&
          line.find("rows ") == line.npos)
        above += line + "\n";
    const absl::StatusOr<Plan> followed = follower.With(above, "above");
    ASSERT_TRUE(followed.ok()) << followed.status() << "\n" << above;
    EXPECT_NEAR(followed->cycles, ranked.cycles, 1e-9 * ranked.cycles) << above;
  }
}

TEST(KBestPlansTest, StoppedItSaysSo) {
  const CostModel model(Avx2Target());
  const std::atomic<bool> cancel = true;
  SearchOptions search;
  search.cancel = &cancel;
  HashMemo memo;
  const auto result =
      KBestPlans(GraphOf("attention f32 heads=4 tokens=96 dim=32"), "test", {5}, model, memo, {}, search);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->complete);
  EXPECT_EQ(result->programs.size(), 1u);
}

}  // namespace
}  // namespace kirsch::testing
