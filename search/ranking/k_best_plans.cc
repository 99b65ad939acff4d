// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/k_best_plans.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "cost/cost.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/canonical_graph.h"
#include "search/graph/fusion_graph.h"
#include "search/graph/group_pricer.h"
#include "search/graph/path_plan.h"
#include "search/graph/plan_paths.h"
#include "search/ranking/group_k_best.h"
#include "spec/program/plan_program.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Keeps the cheapest plans found so far, no two of the same code.
class PlanPool {
 public:
  PlanPool(size_t count, const Target& target) : count_(count), target_(target) {}

  // A plan that costs this much is not among the cheapest.
  double Limit() const { return plans_.size() < count_ ? kInfiniteCycles : std::prev(plans_.end())->first; }
  bool full() const { return plans_.size() == count_; }

  // Adds a plan behind those that cost the same. If its code is known, the cheaper of both stays.
  void Add(Plan plan) {
    const std::string code = PrintProgram(WriteProgram(plan, target_));
    const auto [known, is_new] = codes_.try_emplace(code, plans_.end());
    if (!is_new && known->second->first <= plan.cycles) return;
    if (!is_new) plans_.erase(known->second);
    const double cycles = plan.cycles;
    known->second = plans_.emplace(cycles, Entry{std::move(plan), code});
    if (plans_.size() <= count_) return;
    codes_.erase(std::prev(plans_.end())->second.code);
    plans_.erase(std::prev(plans_.end()));
  }

  std::vector<RankedProgram> Take() && {
    std::vector<RankedProgram> ranked;
    for (auto& [cycles, entry] : plans_) ranked.push_back({std::move(entry.plan), cycles});
    return ranked;
  }

 private:
  struct Entry {
    Plan plan;
    std::string code;
  };

  const size_t count_;
  const Target& target_;
  std::multimap<double, Entry> plans_;
  std::map<std::string, std::multimap<double, Entry>::iterator> codes_;
};

// Finds the plans of one graph below a limit that grows.
class PlanRanking {
 public:
  PlanRanking(const Graph& canonical, const RankOptions& rank, const CostModel& model, Memo& memo,
              const PlanOptions& options, const SearchOptions& search)
      : graph_(canonical),
        target_(model.target()),
        options_(options),
        uses_(canonical),
        fusion_graph_(uses_, options.most_states),
        pricer_(uses_, model, options),
        stages_(model, memo, search, rank),
        pool_(static_cast<size_t>(rank.count), target_),
        farthest_(rank.farthest) {}

  // `best`: the cheapest plan, from a search. The limits grow as in k_best.h.
  absl::Status Run(Plan best) {
    const double cycles = best.cycles;
    pool_.Add(std::move(best));
    for (double share = 1.0 / kFirstPart; complete(); share *= 2) {
      const bool all = share > std::min<double>(kLargestShare, farthest_);
      below_ = all ? cycles + cycles * farthest_ : cycles + cycles * share;
      // The plan for one thread competes with those for several, as in SearchPlan.
      for (const int threads : std::set<int>{1, options_.threads}) KIRSCH_RETURN_IF_ERROR(FindPlans(threads));
      if (all || pool_.full()) break;
    }
    return absl::OkStatus();
  }

  bool complete() const { return pricer_.optimal() && !stages_.stopped() && fusion_graph_.all(); }
  std::vector<RankedProgram> Take() && { return std::move(pool_).Take(); }

 private:
  double Limit() const { return std::min(below_, pool_.Limit()); }
  bool stopped() const { return !pricer_.optimal() || stages_.stopped(); }

  // Finds the plans below the limit for a number of threads. Paths come by their lengths, as far as those are
  // known. A group with only a bound is looked into when its path comes before all that are too long; then
  // the paths are sorted anew.
  absl::Status FindPlans(int threads) {
    // The cycles that a plan for several threads pays once, whatever its path.
    const double once = threads > 1 ? target_.fork_join_cycles : 0;
    std::set<std::vector<GroupQuestion>> done;
    for (size_t count = 1; !stopped();) {
      KIRSCH_ASSIGN_OR_RETURN(const std::vector<PlanPath> paths, ShortestPaths(threads, count));
      bool raised = false;
      for (const PlanPath& path : paths) {
        if (path.cycles + once >= Limit()) return absl::OkStatus();
        KIRSCH_ASSIGN_OR_RETURN(const bool open, Raise(path));
        if (raised = open; raised) break;
        if (!done.insert(GroupsOf(path)).second) continue;
        KIRSCH_RETURN_IF_ERROR(AddPlans(path, threads, once));
      }
      if (raised) continue;
      if (paths.size() < count) return absl::OkStatus();
      count *= 2;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<PlanPath>> ShortestPaths(int threads, size_t count) {
    const PathOptions options{threads, target_.barrier_cycles, options_.fuse, {}, count};
    const PlanPaths::Length length = [&](const GroupQuestion& group) { return KBestOf(group).Bound(); };
    return PlanPaths(fusion_graph_, options, length).Shortest({});
  }

  // The ranked list of a group, begun when it is first asked for. A group of one thread costs the same in all
  // plans.
  GroupKBest& KBestOf(const GroupQuestion& group) {
    const int threads = group.second == Workers::kOne ? 1 : options_.threads;
    return ranks_.try_emplace(group, group.first, group.second, threads, pricer_, stages_).first->second;
  }

  static std::vector<GroupQuestion> GroupsOf(const PlanPath& path) {
    std::vector<GroupQuestion> groups;
    for (const PlanStep& step : path.steps)
      groups.insert(groups.end(), step.groups.begin(), step.groups.end());
    return groups;
  }

  // Looks into the groups of a path that have only a bound, and raises each bound by little. False: all
  // lengths are known.
  absl::StatusOr<bool> Raise(const PlanPath& path) {
    bool open = false;
    for (const GroupQuestion& group : GroupsOf(path)) {
      GroupKBest& ranks = KBestOf(group);
      if (ranks.is_priced()) continue;
      open = true;
      KIRSCH_ASSIGN_OR_RETURN(const double bound, ranks.Bound());
      KIRSCH_RETURN_IF_ERROR(ranks.At(0, bound * kBoundRaise + 1).status());
    }
    return open;
  }

  // Adds the combinations along a path, best first. Each has neighbours, which have the next variant of one
  // group. As in group_k_best.h, a place before the last one that was changed stays, so each combination
  // comes up once.
  absl::Status AddPlans(const PlanPath& path, int threads, double once) {
    const std::vector<GroupQuestion> groups = GroupsOf(path);
    using Ranks = std::vector<size_t>;
    std::multimap<double, std::pair<Ranks, size_t>> next;  // by cycles; which groups may still change
    next.emplace(path.cycles + once, std::pair(Ranks(groups.size()), size_t{0}));
    while (!next.empty() && next.begin()->first < Limit() && !stopped()) {
      const auto first = next.extract(next.begin());
      const auto& [ranks, last] = first.mapped();
      Plan plan =
          PlanAlong(path, graph_, target_, threads, [&](const GroupQuestion& group) -> const PricedGroup& {
            const auto place = std::ranges::find(groups, group) - groups.begin();
            return Known(group, ranks[static_cast<size_t>(place)]);
          });
      plan.cycles = first.key();
      pool_.Add(std::move(plan));
      for (size_t i = last; i < groups.size(); ++i) {
        // The next variant of a group is of use only below what the rest of the plan leaves of the limit.
        const double others = first.key() - Known(groups[i], ranks[i]).cycles;
        KIRSCH_ASSIGN_OR_RETURN(const PricedGroup* const dearer,
                                KBestOf(groups[i]).At(ranks[i] + 1, Limit() - others));
        if (dearer == nullptr) continue;
        Ranks with = ranks;
        ++with[i];
        next.emplace(others + dearer->cycles, std::pair(std::move(with), i));
      }
    }
    return absl::OkStatus();
  }

  const PricedGroup& Known(const GroupQuestion& group, size_t rank) { return KBestOf(group).at(rank); }

  const Graph& graph_;
  const Target& target_;
  const PlanOptions& options_;
  const GraphUses uses_;
  const FusionGraph fusion_graph_;
  GroupPricer pricer_;
  StageKBest stages_;
  std::map<GroupQuestion, GroupKBest> ranks_;
  PlanPool pool_;
  const double farthest_;
  double below_ = kInfiniteCycles;
};

}  // namespace

absl::StatusOr<KBestResult> KBestPlans(const Graph& graph, std::string_view source, const RankOptions& rank,
                                       const CostModel& model, Memo& memo, PlanOptions options,
                                       const SearchOptions& search) {
  const auto start = std::chrono::steady_clock::now();
  options.explain = false;
  options.schedule = nullptr;
  SearchStages(model, memo, &options, search);
  KIRSCH_ASSIGN_OR_RETURN(PlanResult best, Require(SearchPlan(graph, source, model, options)));
  KBestResult result;
  const Graph canonical = best.plan.graph;  // what is constant-folded included
  PlanRanking ranking(canonical, rank, model, memo, options, search);
  if (best.stop != StopReason::kOptimal) {
    result.complete = false;
    const double cycles = best.plan.cycles;
    result.programs.push_back({std::move(best.plan), cycles});
  } else {
    KIRSCH_RETURN_IF_ERROR(ranking.Run(std::move(best.plan)));
    result.complete = ranking.complete();
    result.programs = std::move(ranking).Take();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
