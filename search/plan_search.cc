#include "search/plan_search.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rewrites/canonical_graph.h"
#include "rewrites/graph_uses.h"
#include "search/constant_copies.h"
#include "search/slice_pricer.h"
#include "search/slice_sets.h"
#include "spec/cat.h"

namespace kirsch {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

using Part = std::shared_ptr<const PricedSlice>;  // null: none

class Planner {
 public:
  Planner(const Graph& graph, std::string_view source, const CostModel& model, const PlanOptions& options)
      : graph_(graph),
        source_(source),
        target_(model.target()),
        options_(options),
        uses_(graph),
        pricer_(uses_, model, options) {}

  absl::StatusOr<PlanResult> Run() {
    const std::vector<int>& operations = uses_.operations();
    if (operations.size() > kMaxOperations)
      return ErrorAt(source_, graph_.at(operations[kMaxOperations]).position,
                     Cat("expected at most ", kMaxOperations, " operations"));
    if (operations.empty())
      return ErrorAt(source_, graph_.at(graph_.result).position, "expected an operation at least");
    sets_.emplace(uses_, options_.most_states);
    absl::StatusOr<PlanResult> best = BestPlan();
    if (!best.ok()) return best;
    if (options_.explain)
      if (absl::Status status = FindOtherSplits(&best->plan); !status.ok()) return status;
    best->stats = pricer_.stats();
    best->slices = priced_.size();
    best->optimal = pricer_.optimal() && sets_->all();
    best->pinned = options_.schedule != nullptr;
    return best;
  }

 private:
  // The cheapest way to have done some operations, the current phase having begun after certain ones.
  struct State {
    double cycles = kNever;
    size_t from = 0;          // the state before: by the set's number
    OperationSet begin = 0;   // and what the phase then began after
    bool waits = false;       // a phase begins between the two
    std::vector<Part> parts;  // the slices between the two
  };
  struct Known {
    Part part;
    double budget = 0;  // null for this, and less
  };

  // A plan for one thread competes.
  absl::StatusOr<PlanResult> BestPlan() {
    if (options_.schedule != nullptr) return FindPlan(options_.schedule->threads);
    absl::StatusOr<PlanResult> best = FindPlan(1);
    if (!best.ok() || options_.threads == 1) return best;
    absl::StatusOr<PlanResult> shared = FindPlan(options_.threads);
    if (!shared.ok()) return shared;
    return shared->plan.cycles < best->plan.cycles ? shared : best;
  }

  // The cheapest plan without each of the slices.
  absl::Status FindOtherSplits(Plan* plan) {
    for (SliceDecision& slice : plan->slices) {
      banned_ = 0;
      for (size_t place = 0; place < uses_.operations().size(); ++place)
        if (std::find(slice.operations.begin(), slice.operations.end(), uses_.operations()[place]) !=
            slice.operations.end())
          banned_ |= OperationSet{1} << place;
      const absl::StatusOr<PlanResult> other = FindPlan(plan->threads);
      if (absl::IsInvalidArgument(other.status())) continue;  // it is needed
      if (!other.ok()) return other.status();
      slice.other_split = {SplitOf(other->plan), other->plan.cycles};
    }
    return absl::OkStatus();
  }

  // "v6 v7 | v8 out"
  static std::string SplitOf(const Plan& plan) {
    std::string text;
    for (const SliceDecision& slice : plan.slices) {
      if (!text.empty()) text += " | ";
      for (int node : slice.operations)
        kirsch::Append(&text, node == slice.operations.front() ? "" : " ", NameOfValue(plan.graph, node));
    }
    return text;
  }

  // Dynamic programming over the operations that are done and those that were when the current phase began:
  // of several threads, a slice waits for all slices before it if it reads what one of this phase makes.
  absl::StatusOr<PlanResult> FindPlan(int threads) {
    threads_ = threads;
    states_.assign(sets_->done().size(), {});
    states_[0][0].cycles = 0;
    absl::StatusOr<size_t> first = FollowSchedule();
    if (!first.ok()) return first.status();
    for (size_t end = *first + 1; end < states_.size(); ++end) {
      if (!Contains(sets_->done()[end], sets_->done()[*first])) continue;
      if (absl::Status status = ReachAll(*first, end); !status.ok()) return status;
    }
    if (CyclesAt(states_.size() - 1) == kNever) return Refused();
    PlanResult result = Trace();
    result.unfused_cycles = UnfusedCycles();
    return result;
  }

  static bool Contains(OperationSet all, OperationSet part) { return (part & ~all) == 0; }

  // The first operation that no slice computes.
  absl::Status Refused() const {
    OperationSet computed = 0;
    for (const auto& [slice, known] : priced_)
      if (known.part != nullptr) computed |= slice.first;
    const auto first = static_cast<size_t>(std::countr_one(computed));
    const std::vector<int>& operations = uses_.operations();
    const int node = first < operations.size() ? operations[first] : graph_.result;
    return ErrorAt(source_, graph_.at(node).position, Cat("expected ", pricer_.ErrorOf(node)));
  }

  double CyclesAt(size_t set) const {
    double cycles = kNever;
    for (const auto& [begin, state] : states_[set]) cycles = std::min(cycles, state.cycles);
    return cycles;
  }

  double barrier() const { return threads_ > 1 ? target_.barrier_cycles : 0; }

  // What there is no use for if it costs more: that a phase begins elsewhere is worth no more than to wait
  // once, before the slice and after it.
  double Budget(size_t from, size_t end) const { return CyclesAt(end) - CyclesAt(from) + 2 * barrier(); }

  // Goes to the set from all that lead there by one slice, the smallest slices first; or by one that threads
  // share and one before it, of operations whose values only that needs, which each thread does for itself.
  absl::Status ReachAll(size_t first, size_t end) {
    std::vector<std::pair<size_t, Part>> last;
    for (size_t from : sets_->Before(end)) {
      if (CyclesAt(from) == kNever || !Contains(sets_->done()[from], sets_->done()[first])) continue;
      const OperationSet slice = sets_->done()[end] & ~sets_->done()[from];
      if ((!options_.fuse && std::popcount(slice) > 1) || slice == banned_) continue;
      if (!pricer_.optimal() && CyclesAt(end) < kNever) break;  // there is no time
      const Workers workers = threads_ > 1 ? Workers::kShared : Workers::kOne;
      absl::StatusOr<Part> part = PartOf(slice, workers, Budget(from, end));
      if (!part.ok()) return part.status();
      if (*part == nullptr) continue;
      Reach(from, end, {*part});
      last.push_back({from, *std::move(part)});
    }
    for (const auto& [middle, part] : last)
      if (absl::Status status = ReachRepeating(first, middle, end, part); !status.ok()) return status;
    return absl::OkStatus();
  }

  absl::Status ReachRepeating(size_t first, size_t middle, size_t end, const Part& part) {
    if (threads_ == 1 || !options_.fuse) return absl::OkStatus();
    for (size_t from : sets_->Before(middle)) {
      if (CyclesAt(from) == kNever || !Contains(sets_->done()[from], sets_->done()[first])) continue;
      const OperationSet repeated = sets_->done()[middle] & ~sets_->done()[from];
      if (!Contains(sets_->done()[end], sets_->UsersOf(repeated)) || repeated == banned_) continue;
      const absl::StatusOr<Part> each = PartOf(repeated, Workers::kEach, Budget(from, end) - part->cycles);
      if (!each.ok()) return each.status();
      if (*each != nullptr) Reach(from, end, {*each, part});
    }
    return absl::OkStatus();
  }

  // A slice that was not cheaper than some budget is asked about again only for a larger one.
  absl::StatusOr<Part> PartOf(OperationSet slice, Workers workers, double budget) {
    if (options_.explain) budget = kNever;  // what is second best may be far off
    Known& known = priced_[{slice, workers}];
    if (known.part != nullptr) return known.part->cycles < budget ? known.part : nullptr;
    if (budget <= known.budget) return Part();
    absl::StatusOr<std::optional<PricedSlice>> priced = pricer_.Price(slice, workers, budget);
    if (!priced.ok()) return priced.status();
    known.budget = budget;
    if (*priced) known.part = std::make_shared<const PricedSlice>(**std::move(priced));
    return known.part;
  }

  // Goes on from every state there is of the set.
  void Reach(size_t from, size_t end, const std::vector<Part>& parts) {
    const OperationSet slice = sets_->done()[end] & ~sets_->done()[from];
    double cycles = 0;
    for (const Part& part : parts) cycles += part->cycles;
    for (const auto& [begin, before] : states_[from]) {
      const OperationSet of_phase = sets_->done()[from] & ~begin;
      const bool waits = threads_ > 1 && (sets_->ReadBy(slice) & of_phase) != 0;
      const double total = before.cycles + cycles + (waits ? barrier() : 0);
      State& after = states_[end][waits ? sets_->done()[from] : begin];
      if (total < after.cycles) after = {total, from, begin, waits, parts};
    }
  }

  // Goes where the schedule says; the number of the set that it ends in.
  absl::StatusOr<size_t> FollowSchedule() {
    size_t from = 0;
    if (options_.schedule == nullptr) return from;
    const std::vector<SliceSchedule>& slices = options_.schedule->slices;
    for (size_t i = 0; i < slices.size(); ++i) {
      std::vector<Part> parts;
      OperationSet done = sets_->done()[from];
      for (;; ++i) {
        const absl::StatusOr<OperationSet> slice = SliceOf(slices[i], done);
        if (!slice.ok()) return slice.status();
        const Workers workers = slices[i].each ? Workers::kEach
                                : threads_ > 1 ? Workers::kShared
                                               : Workers::kOne;
        if (slices[i].each && (threads_ == 1 || i + 1 == slices.size()))
          return ErrorAt(options_.schedule->source, slices[i].position,
                         "expected a slice for several threads behind what each does for itself");
        absl::StatusOr<PricedSlice> priced = pricer_.Replay(*slice, workers, slices[i]);
        if (!priced.ok()) return priced.status();
        parts.push_back(std::make_shared<const PricedSlice>(*std::move(priced)));
        done |= *slice;
        if (!slices[i].each) break;
      }
      const size_t end = *sets_->Find(done);  // there is one after each slice
      Reach(from, end, parts);
      from = end;
    }
    return from;
  }

  absl::StatusOr<OperationSet> SliceOf(const SliceSchedule& schedule, OperationSet done) const {
    OperationSet set = 0;
    for (const Word& word : schedule.operations) {
      const std::vector<int>& operations = uses_.operations();
      const auto known = std::find_if(operations.begin(), operations.end(),
                                      [&](int node) { return NameOfValue(graph_, node) == word.text; });
      if (known == operations.end())
        return ExpectedAt(options_.schedule->source, word, "the name of a value that an operation makes");
      const OperationSet operation = OperationSet{1} << (known - operations.begin());
      if (((set | done) & operation) != 0)
        return ExpectedAt(options_.schedule->source, word, "an operation that is in no slice yet");
      set |= operation;
    }
    if (!sets_->Find(done | set))
      return ErrorAt(options_.schedule->source, schedule.position,
                     "expected operations that read only what is computed before them");
    return set;
  }

  // With a slice for each operation, in the canonical order.
  std::optional<double> UnfusedCycles() {
    double cycles = threads_ > 1 ? target_.fork_join_cycles : 0;
    OperationSet done = 0, begin = 0;
    for (size_t place = 0; place < uses_.operations().size(); ++place) {
      const OperationSet slice = OperationSet{1} << place;
      const auto known = priced_.find({slice, threads_ > 1 ? Workers::kShared : Workers::kOne});
      if (known == priced_.end() || known->second.part == nullptr) return std::nullopt;
      const bool waits = threads_ > 1 && (sets_->ReadBy(slice) & done & ~begin) != 0;
      if (waits) begin = done;
      cycles += known->second.part->cycles + (waits ? barrier() : 0);
      done |= slice;
    }
    return cycles;
  }

  // The plan that the cheapest of the last states comes from.
  PlanResult Trace() const {
    const auto& last = states_.back();
    const State* state = &std::min_element(last.begin(), last.end(), [](const auto& a, const auto& b) {
                            return a.second.cycles < b.second.cycles;
                          })->second;
    PlanResult result;
    Plan& plan = result.plan;
    plan.graph = graph_;
    plan.threads = threads_;
    plan.cycles = state->cycles + (threads_ > 1 ? target_.fork_join_cycles : 0);
    std::vector<const State*> path;
    for (; !state->parts.empty(); state = &states_[state->from].at(state->begin)) path.push_back(state);
    int phase = 0;
    for (size_t i = path.size(); i-- > 0;) {
      phase += path[i]->waits ? 1 : 0;
      for (const Part& part : path[i]->parts) Append(*part, phase, &plan);
    }
    CopyConstants(target_, &plan);
    return result;
  }

  static void Append(const PricedSlice& slice, int phase, Plan* plan) {
    plan->ahead.insert(plan->ahead.end(), slice.ahead.begin(), slice.ahead.end());
    for (const Group& group : slice.groups) {
      Group& added = plan->groups.emplace_back(group);
      added.slice = static_cast<int>(plan->slices.size());
      added.phase = phase;
    }
    plan->buffers.insert(plan->buffers.end(), slice.buffers.begin(), slice.buffers.end());
    plan->slices.push_back(slice.decision);
  }

  const Graph& graph_;
  const std::string_view source_;
  const Target& target_;
  const PlanOptions& options_;
  const GraphUses uses_;
  SlicePricer pricer_;
  std::optional<SliceSets> sets_;
  int threads_ = 1;
  OperationSet banned_ = 0;                            // the slice that may not be; 0: none
  std::vector<std::map<OperationSet, State>> states_;  // by the set's number, and what the phase began after
  std::map<std::pair<OperationSet, Workers>, Known> priced_;
};

}  // namespace

absl::StatusOr<PlanResult> SearchPlan(const Graph& graph, std::string_view source, const CostModel& model,
                                      const PlanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Graph canonical = CanonicalGraph(graph);
  if (const PlanSchedule* const schedule = options.schedule;
      schedule != nullptr && schedule->threads != 1 && schedule->threads != options.threads)
    return ErrorAt(schedule->source, {},
                   Cat("expected a plan for ", options.threads, " threads, or for one"));
  absl::StatusOr<PlanResult> result = Planner(canonical, source, model, options).Run();
  if (result.ok())
    result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
