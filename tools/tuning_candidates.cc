// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning_candidates.h"

#include <set>
#include <utility>

#include "search/graph/follow_plan.h"
#include "search/ranking/k_best.h"
#include "search/ranking/k_best_plans.h"
#include "search/ranking/outer_choices.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"

namespace kirsch {
namespace {

constexpr size_t kMostPrograms = 16;
constexpr int kCheapest = 6;  // of the k best
constexpr int kCheapestPlans = 4;
constexpr int kWays = 6;            // plans that differ above their stages, ...
constexpr double kFarthest = 0.25;  // ... and cost so much more than the best at most

// Those that are given, but for what is the same code as one before.
class CandidateList {
 public:
  explicit CandidateList(const Target& target) : target_(target) {}

  void Add(const ProgramTree& program, double cycles) {
    if (codes_.insert(PrintProgram(WriteProgram(program, target_))).second)
      list_.push_back({PrintSchedule(program), cycles, program});
  }
  size_t size() const { return list_.size(); }
  std::vector<TuningCandidate> Take() && { return std::move(list_); }

 private:
  const Target& target_;
  std::set<std::string> codes_;
  std::vector<TuningCandidate> list_;
};

// The contraction that takes most of a plan's time; null: there is none.
Stage* LargestContraction(Plan* plan) {
  Stage* largest = nullptr;
  double most = 0;
  for (LoopNest& nest : plan->nests)
    for (auto* list : {&nest.before, &nest.once, &nest.stages, &nest.rest})
      for (Stage& stage : *list) {
        const double runs = list == &nest.stages ? static_cast<double>(nest.trips()) : 1;
        if (stage.kind != StageKind::kContraction || runs * stage.cycles <= most) continue;
        most = runs * stage.cycles;
        largest = &stage;
      }
  return largest;
}

void AddOuterChoices(const Plan& best, const CostModel& model, Memo& memo, const SearchOptions& search,
                     PlanFollower* follower, CandidateList* list) {
  Plan changed = best;
  Stage* const stage = LargestContraction(&changed);
  if (stage == nullptr) return;
  const Cost cost = Search(stage->spec, model, memo, search).cost;
  for (OuterChoice& choice : OuterChoices(stage->impl, cost, model, memo, search)) {
    if (list->size() + kWays + kCheapestPlans > kMostPrograms) return;
    stage->impl = std::move(choice.impl);
    // The schedule's cycles are those of the plan that it leads to.
    if (const absl::StatusOr<Plan> plan = follower->With(PrintPlanSchedule(changed), "tuned"); plan.ok())
      list->Add(*plan, plan->cycles);
  }
}

}  // namespace

std::vector<TuningCandidate> FindCandidates(const Synthesis& synthesis, const SearchOptions& search) {
  const CostModel model(synthesis.target);
  const auto& best = std::get<Impl>(synthesis.program);
  const Cost cost = CostFromCycles(synthesis.cycles);
  CandidateList list(synthesis.target);
  list.Add(best, synthesis.cycles);
  for (const OuterChoice& choice : OuterChoices(best, cost, model, *synthesis.memo, search))
    if (list.size() + kCheapest <= kMostPrograms) list.Add(choice.impl, ToCycles(choice.cost));
  for (const RankedProgram& program : KBest(best.spec, kCheapest, model, *synthesis.memo, search).programs)
    list.Add(program.impl, ToCycles(program.cost));
  return std::move(list).Take();
}

absl::StatusOr<std::vector<TuningCandidate>> FindCandidates(const SolveArguments& arguments,
                                                            const Graph& graph, const Target& target,
                                                            Memo& memo, const SearchOptions& search) {
  const CostModel model(target);
  const PlanOptions options = MakePlanOptions(arguments, graph);
  CandidateList list(target);
  const absl::StatusOr<KBestPlansResult> ways =
      KBestPlans(graph, "", {kWays, false, kFarthest}, model, memo, options, search);
  if (!ways.ok()) return ways.status();
  const Plan& best = ways->plans.front().plan;
  list.Add(best, best.cycles);
  PlanFollower follower(graph, "", model, memo, options);
  AddOuterChoices(best, model, memo, search, &follower, &list);
  for (const RankedPlan& way : ways->plans) list.Add(way.plan, way.plan.cycles);
  const absl::StatusOr<KBestPlansResult> cheapest =
      KBestPlans(graph, "", {kCheapestPlans}, model, memo, options, search);
  if (!cheapest.ok()) return cheapest.status();
  for (const RankedPlan& plan : cheapest->plans) list.Add(plan.plan, plan.plan.cycles);
  return std::move(list).Take();
}

}  // namespace kirsch
