// SPDX-License-Identifier: Apache-2.0
#include "search/sampling/draw_plans.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/graph_rewrite.h"
#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_schedules.h"
#include "search/graph/follow_plan.h"
#include "search/graph/fusion_graph.h"
#include "search/sampling/draw_programs.h"
#include "search/sampling/random.h"
#include "spec/language/plan_schedule.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Draws in a row that may find nothing new before a part of the list counts as complete.
constexpr int kTriesPerPlan = 20;

// Draws the parts of a plan above its stages: groups, and a candidate for each.
class Sketch {
 public:
  Sketch(const Graph& canonical, const Target& target, const PlanOptions& options)
      : graph_(canonical), target_(target), options_(options), uses_(graph_) {
    if (uses_.operations().size() <= kMaxOperations) fusion_graph_.emplace(uses_, options.most_states);
  }

  // A random path through the fusion graph, from its end back to its start. Returns its groups in the order
  // in which they are computed.
  std::vector<OperationSet> DrawGroups(Random* random) const {
    std::vector<OperationSet> groups;
    for (size_t end = fusion_graph_->done().size() - 1; end != 0;) {
      const std::vector<size_t>& before = fusion_graph_->Before(end);
      const size_t from = before[random->Below(before.size())];
      groups.insert(groups.begin(), fusion_graph_->done()[end] - fusion_graph_->done()[from]);
      end = from;
    }
    return groups;
  }

  // A group of these operations, everything else about it left to the search.
  GroupSchedule Open(const OperationSet& set) const {
    GroupSchedule schedule;
    const FusionGroup group(uses_, set);
    for (const int node : group.operations()) schedule.operations.push_back({node});
    return schedule;
  }

  // A group with any parameters of any rewrite that applies to it. If none does, the group stays open.
  GroupSchedule DrawCandidate(const OperationSet& set, int threads, Random* random) const {
    GroupSchedule drawn = Open(set);
    const FusionGroup group(uses_, set);
    const GroupProblem problem{group, target_, threads, options_.allow_winograd};
    std::vector<const GraphRewrite*> rewrites;
    for (const GraphRewrite* rewrite : GraphRewrites())
      if (rewrite->applies(problem)) rewrites.push_back(rewrite);
    if (rewrites.empty()) return drawn;
    const GraphRewrite& rewrite = *rewrites[random->Below(rewrites.size())];
    const std::vector<RewriteParameters> all = rewrite.enumerate(problem);
    if (all.empty()) return drawn;
    drawn.SetRewrite(rewrite.With(all[random->Below(all.size())]));
    // Not every candidate allows each of these. If the plan is not in the space, the caller draws again.
    const std::optional<Level> keep[] = {std::nullopt, Level::kL1, Level::kL2};
    drawn.keep = keep[random->Below(3)];
    if (random->Below(4) == 0) drawn.in_place = false;
    return drawn;
  }

  // The operations of a group of a plan, as a set.
  OperationSet SetOf(const GroupDecision& group) const { return uses_.SetOf(group.operations); }

 private:
  const Graph graph_;
  const Target& target_;
  const PlanOptions& options_;
  const GraphUses uses_;
  std::optional<FusionGraph> fusion_graph_;
};

// Draws plans as schedules, and has them followed: whatever a schedule leaves open is then the best there is.
class PlanDrawer {
 public:
  PlanDrawer(const Graph& graph, std::string_view source, const CostModel& model, Memo& memo,
             const PlanOptions& options, uint64_t seed)
      : model_(model),
        memo_(memo),
        options_(options),
        follower_(graph, source, model, memo, options),
        sketch_(CanonicalGraph(graph), model.target(), options_),
        random_(seed) {}

  absl::StatusOr<std::vector<Plan>> Draw(size_t count) {
    KIRSCH_ASSIGN_OR_RETURN(best_, follower_.Best());
    known_.insert(PrintPlanSchedule(best_));
    plans_ = {best_};
    // Half of them anywhere, then around the optimum; if there are too few around it, anywhere again.
    Fill(1 + (count - 1) / 2, static_cast<double>(kFarthestDrawn), &PlanDrawer::DrawAnywhere);
    Fill(count, kFarthestAround, &PlanDrawer::DrawAround);
    Fill(count, static_cast<double>(kFarthestDrawn), &PlanDrawer::DrawAnywhere);
    return std::move(plans_);
  }

 private:
  void Fill(size_t count, double farthest, std::optional<Plan> (PlanDrawer::*draw)()) {
    const auto is_new = [&](const Plan& plan) {
      return plan.cycles <= farthest * best_.cycles && known_.insert(PrintPlanSchedule(plan)).second;
    };
    DrawUntil(count, kTriesPerPlan, [&] { return (this->*draw)(); }, is_new, &plans_);
  }

  // The plan of a schedule; nothing if the schedule is not in the space.
  std::optional<Plan> With(const PlanSchedule& schedule) {
    absl::StatusOr<Plan> plan = follower_.With(schedule);
    if (!plan.ok()) return std::nullopt;
    return *std::move(plan);
  }

  // Draws groups and candidates first. Then, with the stages that these have, it draws about every second
  // stage.
  std::optional<Plan> DrawAnywhere() {
    PlanSchedule schedule{"draw", best_.threads};
    for (const OperationSet& group : sketch_.DrawGroups(&random_))
      schedule.groups.push_back(sketch_.DrawCandidate(group, best_.threads, &random_));
    std::optional<Plan> plan = With(schedule);
    if (!plan) return plan;
    bool changed = false;
    for (LoopNest& nest : plan->nests)
      for (Stage* stage : StagesOf(nest))
        if (random_.Below(2) == 0) changed |= ChangeStage(&ProgramDrawer::DrawAnywhere, stage);
    return changed ? With(MakeSchedule(*plan)) : plan;
  }

  std::optional<Plan> DrawAround() {
    switch (random_.Below(4)) {
      case 0:
        return WithOtherGroups();
      case 1:
        return WithOtherCandidate();
      default:
        return WithOtherStage();
    }
  }

  // The best plan of some groups drawn by chance.
  std::optional<Plan> WithOtherGroups() {
    PlanSchedule schedule{"draw", best_.threads};
    for (const OperationSet& group : sketch_.DrawGroups(&random_))
      schedule.groups.push_back(sketch_.Open(group));
    return With(schedule);
  }

  // The optimum with another candidate for one group. A group that each thread repeats stays one of one
  // thread.
  std::optional<Plan> WithOtherCandidate() {
    PlanSchedule schedule = MakeSchedule(best_);
    const size_t place = random_.Below(best_.groups.size());
    const bool each = best_.groups[place].each;
    GroupSchedule& group = schedule.groups[place];
    group = sketch_.DrawCandidate(sketch_.SetOf(best_.groups[place]), each ? 1 : best_.threads, &random_);
    group.each = each;
    return With(schedule);
  }

  // The optimum with another program or schedule for one stage. Only contractions and row programs have any.
  std::optional<Plan> WithOtherStage() {
    Plan plan = best_;
    std::vector<Stage*> stages;
    for (LoopNest& nest : plan.nests)
      for (Stage* stage : StagesOf(nest))
        if (stage->kind == StageKind::kContraction || stage->kind == StageKind::kRows)
          stages.push_back(stage);
    if (stages.empty() || !ChangeStage(&ProgramDrawer::DrawAround, stages[random_.Below(stages.size())]))
      return std::nullopt;
    return With(MakeSchedule(plan));
  }

  // Gives a stage another program or schedule. False if it has no other, or if none was drawn.
  bool ChangeStage(std::optional<DrawnProgram> (ProgramDrawer::*draw)(Random*), Stage* stage) {
    if (stage->kind == StageKind::kRows) {
      const std::vector<RowSchedule> all =
          EnumerateRowSchedules(stage->program, stage->columns, model_.target());
      stage->schedule = all[random_.Below(all.size())];
      return true;
    }
    if (stage->kind != StageKind::kContraction) return false;
    ProgramDrawer drawer(stage->spec, model_, memo_);
    std::optional<DrawnProgram> program = (drawer.*draw)(&random_);
    if (program) stage->impl = std::move(program->impl);
    return program.has_value();
  }

  const CostModel& model_;
  Memo& memo_;
  const PlanOptions options_;
  PlanFollower follower_;
  const Sketch sketch_;
  Random random_;
  Plan best_;
  std::set<std::string> known_;
  std::vector<Plan> plans_;
};

}  // namespace

absl::StatusOr<std::vector<Plan>> DrawPlans(const Graph& graph, std::string_view source,
                                            const CostModel& model, Memo& memo, const PlanOptions& options,
                                            int count, uint64_t seed) {
  return PlanDrawer(graph, source, model, memo, options, seed).Draw(static_cast<size_t>(std::max(1, count)));
}

}  // namespace kirsch
