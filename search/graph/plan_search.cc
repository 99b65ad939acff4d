// SPDX-License-Identifier: Apache-2.0
#include "search/graph/plan_search.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cost/cost.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/canonical_graph.h"
#include "search/graph/constant_folding.h"
#include "search/graph/fusion_graph.h"
#include "search/graph/group_pricer.h"
#include "search/graph/known_groups.h"
#include "search/graph/path_plan.h"
#include "search/graph/plan_paths.h"
#include "search/solver/replay.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

absl::Status ExpectedValue(const PlanSchedule& schedule, const ScheduledValue& value,
                           std::string_view expected) {
  return ExpectedAt(schedule.source, {PrintValue(value), value.position}, expected);
}

// Searches one graph, with a given choice of operations that are constants.
class Planner {
 public:
  // `learned`: what is known of the graph's groups, and what becomes known.
  Planner(const Graph& graph, std::string_view source, const CostModel& model, const PlanOptions& options,
          KnownGroups& learned)
      : graph_(graph),
        source_(source),
        target_(model.target()),
        options_(options),
        uses_(graph),
        pricer_(uses_, model, options),
        learned_(learned) {}

  // The steps: follow the schedule; find the shortest path; explain it if asked to.
  absl::StatusOr<OrNoPlan<PlanResult>> Run() {
    const std::vector<int>& operations = uses_.operations();
    if (operations.size() > kMaxOperations)
      return NoPlanAt(operations[kMaxOperations], Cat("at most ", kMaxOperations, " operations"));
    if (operations.empty()) return NoPlanAt(graph_.results.front().value, "an operation at least");
    readers_ = FindDecidedReaders();
    fusion_graph_ = &learned_.FusionGraphOf(uses_, options_.most_states);
    KIRSCH_RETURN_IF_ERROR(FollowSchedule());
    KIRSCH_ASSIGN_OR_RETURN(PlanResult best, BestPlan());
    if (best.plan.cycles == kInfiniteCycles) return Refused();
    if (!fusion_graph_->all()) {
      KIRSCH_ASSIGN_OR_RETURN(const double bound, ArithmeticBound());
      best.bound_cycles = std::min(best.bound_cycles, bound);
    }
    if (options_.explain && !best.plan.nests.empty()) KIRSCH_RETURN_IF_ERROR(AddRunnersUp(&best));
    best.stats = pricer_.stats();
    best.groups = known_.size();
    if (options_.schedule != nullptr) best.stop = StopReason::kPinned;
    return best;
  }

  bool optimal() const { return pricer_.optimal(); }

 private:
  // The number of a constant's decided packing, and the operations that read the constant.
  using DecidedReaders = std::pair<int, OperationSet>;

  // Finds the readers of all constants whose packing is decided, in the order of their numbers.
  std::vector<DecidedReaders> FindDecidedReaders() const {
    std::vector<DecidedReaders> readers;
    for (const auto& decided : options_.packing) {
      OperationSet& all = readers.emplace_back(learned_.NumberOf(decided), OperationSet()).second;
      for (size_t place = 0; place < uses_.operations().size(); ++place)
        for (const int input : graph_.at(uses_.operations()[place]).inputs)
          if (uses_.Stored(input) == decided.first) all |= OperationSet::Of(place);
    }
    std::sort(readers.begin(), readers.end());
    return readers;
  }

  // The plan for one thread competes with those for several. Its cost is their cutoff.
  absl::StatusOr<PlanResult> BestPlan() {
    if (options_.schedule != nullptr) return FindPlan(options_.schedule->threads, kInfiniteCycles);
    absl::StatusOr<PlanResult> best = FindPlan(1, options_.cutoff);
    if (!best.ok() || best->plan.cycles == kInfiniteCycles || options_.threads == 1) return best;
    KIRSCH_ASSIGN_OR_RETURN(PlanResult shared,
                            FindPlan(options_.threads, std::min(options_.cutoff, best->plan.cycles)));
    const double bound = std::min(best->bound_cycles, shared.bound_cycles);
    const StopReason stop = shared.stop;
    if (shared.plan.cycles < best->plan.cycles) best = std::move(shared);
    best->bound_cycles = bound;
    best->stop = stop;
    return best;
  }

  // Finds the shortest path, and learns lengths only as far as that needs. While one of its groups has only a
  // bound, that bound is raised, and the path is looked for again.
  //
  // A plan of at least `limit` cycles is not looked for. The result then has no plan; its cycles are a bound,
  // or kInfiniteCycles if there is no plan at all.
  absl::StatusOr<PlanResult> FindPlan(int threads, double limit) {
    // Until the time is over, the shortest path is a bound of all plans.
    const double once = StartCycles(threads);
    PlanResult result;
    PathSearch search(*this, threads, options_.fuse);
    for (priced_only_ = false;;) {
      KIRSCH_ASSIGN_OR_RETURN(PlanPath path, search.Shortest(scheduled_));
      const std::vector<GroupQuestion> open = OpenGroups(path);
      if (!priced_only_) result.bound_cycles = path.cycles + once;
      if (open.empty() && path.cycles + once < limit) result.plan = BuildPlan(path, threads);
      result.plan.cycles = path.cycles + once;
      if (open.empty() || result.plan.cycles >= limit) break;
      const bool priced_only = priced_only_;
      KIRSCH_RETURN_IF_ERROR(Raise(open));
      // When the time is over, all lengths change.
      priced_only == priced_only_ ? search.HaveGrown(open) : search.Forget();
    }
    if (!pricer_.optimal() || !fusion_graph_->all()) result.stop = StopReason::kBudget;
    return result;
  }

  // The cycles that a plan pays once for its threads.
  double StartCycles(int threads) const { return threads > 1 ? target_.fork_join_cycles : 0; }

  // Looks for the shortest path, and again when lengths have grown.
  class PathSearch {
   public:
    PathSearch(Planner& planner, int threads, bool fuse)
        : length_([&planner](const GroupQuestion& group) { return planner.GroupCycles(group); }),
          paths_(*planner.fusion_graph_, {threads, planner.target_.barrier_cycles, fuse, planner.banned_},
                 length_) {}

    absl::StatusOr<PlanPath> Shortest(const std::vector<PlanStep>& first) {
      KIRSCH_ASSIGN_OR_RETURN(std::vector<PlanPath> paths,
                              grown_ ? paths_.ShortestAgain(*grown_) : paths_.Shortest(first));
      return paths.empty() ? PlanPath{} : std::move(paths.front());
    }
    void HaveGrown(const std::vector<GroupQuestion>& groups) { grown_ = groups; }
    void Forget() { grown_.reset(); }

   private:
    const PlanPaths::Length length_;
    PlanPaths paths_;
    std::optional<std::vector<GroupQuestion>> grown_;  // since the last search; nothing: all may be new
  };

  absl::StatusOr<PlanPath> ShortestPath(int threads, const std::vector<PlanStep>& first, bool fuse) {
    return PathSearch(*this, threads, fuse).Shortest(first);
  }

  // The length of a group: its cycles if it is priced, else its bound, which is the closed form at first.
  absl::StatusOr<double> GroupCycles(const GroupQuestion& group) {
    KIRSCH_ASSIGN_OR_RETURN(KnownGroup* const known, Know(group));
    return priced_only_ && !known->group ? kInfiniteCycles : known->bound;
  }

  // What is known of a group, with the packing of the constants that it reads.
  absl::StatusOr<KnownGroup*> Know(const GroupQuestion& group) {
    if (const auto known = known_.find(group); known != known_.end()) return known->second;
    KnownGroups::Packing packing;
    for (const auto& [number, readers] : readers_)
      if (!(readers & group.first).empty()) packing.push_back(number);
    const absl::StatusOr<KnownGroup*> known =
        learned_.Find(group, packing, [&] { return pricer_.Bound(group.first, group.second); });
    if (known.ok()) known_[group] = *known;
    return known;
  }

  // The groups of a path of which only a bound is known.
  std::vector<GroupQuestion> OpenGroups(const PlanPath& path) const {
    std::vector<GroupQuestion> open;
    for (const PlanStep& step : path.steps)
      for (const GroupQuestion& group : step.groups)
        if (known_.at(group)->group == std::nullopt) open.push_back(group);
    return open;
  }

  // Raises the bounds of these groups a little. When the time is over, any program does for them, and only
  // groups that are priced count from then on: the plan is made of what there is.
  absl::Status Raise(const std::vector<GroupQuestion>& open) {
    priced_only_ = !pricer_.optimal();
    for (const GroupQuestion& group : open) {
      if (!priced_only_ && !pricer_.optimal()) break;
      const double budget = priced_only_ ? kInfiniteCycles : known_.at(group)->bound * kBoundRaise + 1;
      KIRSCH_RETURN_IF_ERROR(Price(group, budget));
    }
    return absl::OkStatus();
  }

  absl::Status Price(const GroupQuestion& group, double budget, bool second_best = false) {
    KIRSCH_ASSIGN_OR_RETURN(GroupPrice priced, pricer_.Price(group.first, group.second, budget, second_best));
    KIRSCH_ASSIGN_OR_RETURN(KnownGroup* const known, Know(group));
    // Bounds only grow: the search for paths rests on it.
    if (priced.group || pricer_.optimal()) known->bound = std::max(known->bound, priced.bound);
    if (priced.group) known->group = *std::move(priced.group);
    return absl::OkStatus();
  }

  // The arithmetic of all contractions, in whatever order they are done. It stands in for the bound of paths
  // if only some of the sets of operations were looked at.
  absl::StatusOr<double> ArithmeticBound() {
    double cycles = 0;
    for (size_t place = 0; place < uses_.operations().size(); ++place) {
      KIRSCH_ASSIGN_OR_RETURN(const double bound, pricer_.ArithmeticBound(place));
      cycles += bound / options_.threads;
    }
    return cycles;
  }

  // Says why there is no plan: the first operation that no group computes.
  NoPlan Refused() const {
    OperationSet computed;
    for (const auto& [group, known] : known_)
      if (known->bound < kInfiniteCycles) computed |= group.first;
    const auto first = computed.first_missing();
    const std::vector<int>& operations = uses_.operations();
    const int node = first < operations.size() ? operations[first] : graph_.results.front().value;
    return NoPlanAt(node, pricer_.ErrorOf(node));
  }

  // The answer that there is no plan, with the place of a node in the graph's text.
  NoPlan NoPlanAt(int node, std::string_view expected) const {
    return NoPlan(ErrorAt(source_, graph_.at(node).position, Cat("expected ", expected)));
  }

  // Takes the groups of the schedule as the first steps of every path, and prices each with what the schedule
  // decides.
  absl::Status FollowSchedule() {
    if (options_.schedule == nullptr) return absl::OkStatus();
    const int threads = options_.schedule->threads;
    // Positions in errors are those of the schedule's text.
    const std::vector<GroupSchedule>& groups = options_.schedule->groups;
    size_t from = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      PlanStep step{from, from, {}};
      OperationSet done = fusion_graph_->done()[from];
      // Groups that each thread repeats are one step with the shared group behind them.
      for (;; ++i) {
        KIRSCH_ASSIGN_OR_RETURN(const OperationSet group, GroupOf(groups[i], done));
        const Workers workers = groups[i].each ? Workers::kEach
                                : threads > 1  ? Workers::kShared
                                               : Workers::kOne;
        if (groups[i].each && (threads == 1 || i + 1 == groups.size()))
          return ErrorAt(options_.schedule->source, groups[i].position,
                         "expected a group for several threads behind what each does for itself");
        KIRSCH_ASSIGN_OR_RETURN(PricedGroup priced, pricer_.Replay(group, workers, groups[i]));
        const double cycles = priced.cycles;
        step.groups.emplace_back(group, workers);
        KIRSCH_ASSIGN_OR_RETURN(KnownGroup* const known, Know(step.groups.back()));
        known->group = std::move(priced);
        known->bound = cycles;
        done |= group;
        if (!groups[i].each) break;
      }
      from = step.end = *fusion_graph_->Find(done);  // there is one after each group
      scheduled_.push_back(std::move(step));
    }
    return absl::OkStatus();
  }

  // The operations that a schedule's group names. Each must be one, be in no group yet, and find all it
  // reads.
  absl::StatusOr<OperationSet> GroupOf(const GroupSchedule& schedule, const OperationSet& done) const {
    OperationSet set;
    for (const ScheduledValue& value : schedule.operations) {
      const std::vector<int>& operations = uses_.operations();
      const auto known = std::find(operations.begin(), operations.end(), value.In(graph_));
      if (known == operations.end())
        return ExpectedValue(*options_.schedule, value, "the name of a value that an operation makes");
      const auto place = static_cast<size_t>(known - operations.begin());
      if ((set | done).Contains(place))
        return ExpectedValue(*options_.schedule, value, "an operation that is in no group yet");
      set |= OperationSet::Of(place);
      if (set.size() > kMaxGroupOperations)
        return ExpectedValue(*options_.schedule, value,
                             Cat("at most ", kMaxGroupOperations, " operations in a group"));
    }
    if (!fusion_graph_->Find(done | set))
      return ErrorAt(options_.schedule->source, schedule.position,
                     "expected operations that read only what is computed before them");
    return set;
  }

  Plan BuildPlan(const PlanPath& path, int threads) const {
    return PlanAlong(
        path, graph_, target_, threads,
        [this](const GroupQuestion& group) -> const PricedGroup& { return *known_.at(group)->group; });
  }

  // Finds, for each group that was searched for, the next best candidate and the cheapest plan without the
  // group. Also finds what a group for each operation would take.
  absl::Status AddRunnersUp(PlanResult* result) {
    // The groups of the best path are priced once more, with a second best each, so the plan is built anew
    // from these.
    const int threads = result->plan.threads;
    KIRSCH_ASSIGN_OR_RETURN(const PlanPath path, ShortestPath(threads, scheduled_, options_.fuse));
    for (size_t i = scheduled_.size(); i < path.steps.size(); ++i)
      for (const GroupQuestion& group : path.steps[i].groups)
        KIRSCH_RETURN_IF_ERROR(Price(group, kInfiniteCycles, true));
    const double cycles = result->plan.cycles;
    result->plan = BuildPlan(path, threads);
    result->plan.cycles = cycles;
    KIRSCH_RETURN_IF_ERROR(FindOtherSplits(&result->plan));
    KIRSCH_ASSIGN_OR_RETURN(const PlanPath unfused, UnfusedPath(threads));
    if (unfused.cycles < kInfiniteCycles) result->unfused_cycles = unfused.cycles + StartCycles(threads);
    return absl::OkStatus();
  }

  // Bans one group after the other, and looks for the shortest path that remains.
  absl::Status FindOtherSplits(Plan* plan) {
    for (GroupDecision& group : plan->groups) {
      banned_ = uses_.SetOf(group.operations);
      KIRSCH_ASSIGN_OR_RETURN(const PlanResult other, FindPlan(plan->threads, kInfiniteCycles));
      if (other.plan.cycles == kInfiniteCycles) continue;  // the group is needed
      group.other_split = {{}, other.plan.cycles};
      for (const GroupDecision& of_other : other.plan.groups)
        group.other_split->groups.push_back(of_other.operations);
    }
    banned_ = {};
    return absl::OkStatus();
  }

  // The path with a group for each operation.
  absl::StatusOr<PlanPath> UnfusedPath(int threads) {
    const Workers workers = threads > 1 ? Workers::kShared : Workers::kOne;
    for (size_t place = 0; place < uses_.operations().size(); ++place)
      KIRSCH_RETURN_IF_ERROR(Price({OperationSet::Of(place), workers}, kInfiniteCycles));
    return ShortestPath(threads, {}, false);
  }

  const Graph& graph_;
  const std::string_view source_;
  const Target& target_;
  const PlanOptions& options_;
  const GraphUses uses_;
  GroupPricer pricer_;
  std::vector<DecidedReaders> readers_;
  const FusionGraph* fusion_graph_ = nullptr;  // that of `learned_`
  std::vector<PlanStep> scheduled_;            // every plan begins with these
  OperationSet banned_;                        // the group that may not be; empty: none
  bool priced_only_ = false;                   // groups of which but a bound is known are left alone
  KnownGroups& learned_;
  absl::flat_hash_map<GroupQuestion, KnownGroup*> known_;  // those that this search has looked at
};

// The choices of operations to fold that are searched: one, if the options or the schedule say so; else all.
absl::StatusOr<std::vector<std::vector<int>>> ChoicesFor(const Graph& graph, const Target& target,
                                                         const PlanOptions& options) {
  if (options.folded) return std::vector<std::vector<int>>{*options.folded};
  const std::vector<int> operations = ConstantOperations(graph, target);
  std::vector<std::vector<int>> choices = FoldingChoices(graph, operations);
  if (options.schedule == nullptr) return choices;
  std::vector<int> asked;
  for (const ScheduledValue& value : options.schedule->folded) {
    asked.push_back(value.In(graph));
    if (std::find(operations.begin(), operations.end(), asked.back()) == operations.end())
      return ExpectedValue(*options.schedule, value,
                           "the name of a value that an operation makes of constants");
  }
  std::sort(asked.begin(), asked.end());
  if (std::find(choices.begin(), choices.end(), asked) == choices.end())
    return ExpectedValue(*options.schedule, options.schedule->folded.front(),
                         "all that it is made of before it");
  return std::vector<std::vector<int>>{asked};
}

// Returns the cheapest plan of all choices. Each one found is the cutoff of the next search. Counts and
// bounds are over all searches.
absl::StatusOr<OrNoPlan<PlanResult>> FindBest(const std::vector<std::vector<int>>& choices,
                                              const Graph& graph, std::string_view source,
                                              const CostModel& model, PlanOptions options) {
  std::optional<PlanResult> best;
  std::optional<NoPlan> none;
  for (const std::vector<int>& choice : choices) {
    const Graph constant = WithConstants(graph, choice);
    PlanKnowledge own;
    // A schedule's groups need not be the cheapest.
    const bool keeps = options.knowledge != nullptr && options.schedule == nullptr;
    KnownGroups& learned = (keeps ? *options.knowledge : own).of_choice[choice];
    Planner planner(constant, source, model, options, learned);
    absl::StatusOr<OrNoPlan<PlanResult>> answer = planner.Run();
    if (!planner.optimal()) learned.Clear();
    if (!answer.ok()) return answer;
    auto* const found = std::get_if<PlanResult>(&*answer);
    if (found == nullptr) {
      none = std::get<NoPlan>(*answer);
      continue;
    }
    // Counts and bounds are those of all choices, whichever wins: each search has proven something of the
    // whole question.
    if (best) {
      found->stats += best->stats;
      found->groups += best->groups;
      found->stop = std::max(found->stop, best->stop);
      found->bound_cycles = std::min(found->bound_cycles, best->bound_cycles);
      if (found->plan.nests.empty()) {
        best->stats = found->stats;
        best->groups = found->groups;
        best->stop = found->stop;
        best->bound_cycles = found->bound_cycles;
        continue;
      }
    }
    options.cutoff = std::min(options.cutoff, found->plan.cycles);
    best = std::move(*found);
  }
  if (!best) return *std::move(none);
  return *std::move(best);
}

}  // namespace

void SearchStages(const CostModel& model, Memo& memo, PlanOptions* options, const SearchOptions& search) {
  options->solve = [&model, &memo, search](const Spec& placed, Cost cutoff) -> absl::StatusOr<SearchResult> {
    SearchOptions below = search;
    below.cutoff = cutoff;
    return Search(placed, model, memo, below);
  };
  options->replay = [&model, &memo](const Spec& placed, const Schedule& schedule, std::string_view source) {
    return Replay(placed, schedule, source, model, memo, {});
  };
}

absl::StatusOr<OrNoPlan<PlanResult>> SearchPlan(const Graph& graph, std::string_view source,
                                                const CostModel& model, const PlanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Graph canonical = CanonicalGraph(graph);
  if (const PlanSchedule* const schedule = options.schedule;
      schedule != nullptr && schedule->threads != 1 && schedule->threads != options.threads)
    return ErrorAt(schedule->source, {},
                   Cat("expected a plan for ", options.threads, " threads, or for one"));
  KIRSCH_ASSIGN_OR_RETURN(std::vector<std::vector<int>> choices,
                          ChoicesFor(canonical, model.target(), options));
  absl::StatusOr<OrNoPlan<PlanResult>> answer = FindBest(choices, canonical, source, model, options);
  if (answer.ok())
    if (auto* const result = std::get_if<PlanResult>(&*answer))
      result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

}  // namespace kirsch
