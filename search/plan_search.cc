#include "search/plan_search.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rewrites/graph_uses.h"
#include "rewrites/split_reductions.h"
#include "search/constant_copies.h"
#include "search/group_pricer.h"
#include "search/stage_cost.h"
#include "spec/cat.h"

namespace kirsch {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

using Part = std::shared_ptr<const PricedGroups>;  // null: none

class Planner {
 public:
  Planner(const Graph& graph, std::string_view source, const CostModel& model, const PlanOptions& options)
      : graph_(graph),
        source_(source),
        target_(model.target()),
        options_(options),
        uses_(graph),
        pricer_(uses_, model, options),
        end_(uses_.operations().size()) {}

  absl::StatusOr<PlanResult> Run() {
    if (end_ > kMaxOperations)
      return ErrorAt(source_, graph_.at(uses_.operations()[kMaxOperations]).position,
                     Cat("expected at most ", kMaxOperations, " operations"));
    if (end_ == 0)
      return ErrorAt(source_, graph_.at(graph_.result).position, "expected an operation at least");
    absl::StatusOr<PlanResult> best = FindPlan(1);
    if (!best.ok()) return best;
    if (options_.threads > 1) {
      absl::StatusOr<PlanResult> shared = FindPlan(options_.threads);
      if (!shared.ok()) return shared;
      if (shared->plan.cycles < best->plan.cycles) best = std::move(shared);
    }
    best->stats = pricer_.stats();
    best->optimal = pricer_.optimal();
    return best;
  }

 private:
  // The cheapest way to have done the first operations, the current phase having begun at a certain one.
  struct State {
    double cycles = kNever;
    size_t begin = 0, end = 0;  // the state before
    bool waits = false;         // a phase begins between the two
    std::vector<Part> parts;    // the groups between the two
  };

  // Dynamic programming over the operations that are done and the one that the current phase began with:
  // of several threads, a group waits for all groups before it if it reads what one of this phase makes.
  absl::StatusOr<PlanResult> FindPlan(int threads) {
    threads_ = threads;
    states_.assign(end_ + 1, std::vector<State>(end_ + 1));
    states_[0][0].cycles = 0;
    repeated_.clear();
    State unfused;  // with a group for each operation
    unfused.cycles = threads > 1 ? target_.fork_join_cycles : 0;
    for (size_t end = 1; end <= end_; ++end) {
      std::vector<Part> last(end);  // by their first operation
      for (size_t first = end; first-- > 0;) {
        if (!options_.fuse && first + 1 < end) break;
        if (!pricer_.optimal() && CyclesAt(end) < kNever) break;  // there is no time
        if (absl::Status status = AddGroup(first, end, &last); !status.ok()) return status;
      }
      if (CyclesAt(end) == kNever) return Refused();
      const bool waits = threads > 1 && Reads(end - 1, end, unfused.begin);
      if (waits) unfused.begin = end - 1;
      unfused.cycles += (last.back() != nullptr ? last.back()->cycles : kNever) + (waits ? barrier() : 0);
    }
    PlanResult result = Trace();
    if (unfused.cycles < kNever) result.unfused_cycles = unfused.cycles;
    if (threads > 1) result.plan.cycles += target_.fork_join_cycles;
    return result;
  }

  absl::Status Refused() const {
    const int node = pricer_.error_node();
    return ErrorAt(source_, graph_.at(node >= 0 ? node : graph_.result).position,
                   Cat("expected ", pricer_.error()));
  }

  double CyclesAt(size_t end) const {
    double cycles = kNever;
    for (const State& state : states_[end]) cycles = std::min(cycles, state.cycles);
    return cycles;
  }

  double barrier() const { return threads_ > 1 ? target_.barrier_cycles : 0; }

  // What there is no use for if it costs more: that a phase begins elsewhere is worth no more than to wait
  // once, before the group and after it.
  double Budget(size_t first, size_t end) const { return CyclesAt(end) - CyclesAt(first) + 2 * barrier(); }

  // The group of these operations; and, where it takes in what a few of them make, those done by each thread
  // for itself.
  absl::Status AddGroup(size_t first, size_t end, std::vector<Part>* last) {
    const Workers workers = threads_ > 1 ? Workers::kShared : Workers::kOne;
    absl::StatusOr<Part> group = PartOf(first, end, workers);
    if (!group.ok()) return group.status();
    (*last)[first] = *group;
    if (*group != nullptr) Reach(first, end, {*group});
    if (threads_ == 1) return absl::OkStatus();
    for (size_t middle = first + 1; middle < end; ++middle) {
      if ((*last)[middle] == nullptr || !OnlyUsedBefore(first, middle, end)) continue;
      const absl::StatusOr<Part> repeated = Repeated(first, middle);
      if (!repeated.ok()) return repeated.status();
      if (*repeated != nullptr) Reach(first, end, {*repeated, (*last)[middle]});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Part> PartOf(size_t first, size_t end, Workers workers) {
    absl::StatusOr<std::optional<PricedGroups>> priced =
        pricer_.Price(first, end, workers, Budget(first, end));
    if (!priced.ok()) return priced.status();
    return *priced ? std::make_shared<const PricedGroups>(**std::move(priced)) : nullptr;
  }

  // The group as each thread does it for itself.
  absl::StatusOr<Part> Repeated(size_t first, size_t end) {
    const auto known = repeated_.find({first, end});
    if (known != repeated_.end()) return known->second;
    absl::StatusOr<Part> part = PartOf(first, end, Workers::kEach);
    if (part.ok()) repeated_[{first, end}] = *part;
    return part;
  }

  // Are the values of operations from `first` to `middle` of no use from `end` on?
  bool OnlyUsedBefore(size_t first, size_t middle, size_t end) const {
    const std::vector<int>& operations = uses_.operations();
    return std::all_of(operations.begin() + static_cast<std::ptrdiff_t>(first),
                       operations.begin() + static_cast<std::ptrdiff_t>(middle),
                       [&](int node) { return uses_.LastUse(node) < static_cast<int>(end); });
  }

  // Does an operation from `first` to `end` read what one between `begin` and `first` makes?
  bool Reads(size_t first, size_t end, size_t begin) const {
    const std::vector<int>& operations = uses_.operations();
    const auto made = [&](int node) { return uses_.IsMadeIn(begin, first, uses_.Stored(node)); };
    return std::any_of(operations.begin() + static_cast<std::ptrdiff_t>(first),
                       operations.begin() + static_cast<std::ptrdiff_t>(end), [&](int node) {
                         const std::vector<int>& inputs = graph_.at(node).inputs;
                         return std::any_of(inputs.begin(), inputs.end(), made);
                       });
  }

  // Goes on from every state at `first`.
  void Reach(size_t first, size_t end, const std::vector<Part>& parts) {
    double cycles = 0;
    for (const Part& part : parts) cycles += part->cycles;
    for (size_t begin = 0; begin <= first; ++begin) {
      const State& before = states_[first][begin];
      if (before.cycles == kNever) continue;
      const bool waits = threads_ > 1 && Reads(first, end, begin);
      const double total = before.cycles + cycles + (waits ? barrier() : 0);
      State& after = states_[end][waits ? first : begin];
      if (total < after.cycles) after = {total, begin, first, waits, parts};
    }
  }

  // The plan that the cheapest of the last states comes from.
  PlanResult Trace() const {
    const State* state =
        &*std::min_element(states_[end_].begin(), states_[end_].end(),
                           [](const State& a, const State& b) { return a.cycles < b.cycles; });
    PlanResult result;
    result.plan.graph = graph_;
    result.plan.cycles = state->cycles;
    std::vector<const State*> path;
    for (; !state->parts.empty(); state = &states_[state->end][state->begin]) path.push_back(state);
    std::vector<Buffer>& buffers = result.plan.buffers;
    int phase = 0;
    for (size_t i = path.size(); i-- > 0;) {
      phase += path[i]->waits ? 1 : 0;
      for (const Part& part : path[i]->parts) {
        result.plan.ahead.insert(result.plan.ahead.end(), part->ahead.begin(), part->ahead.end());
        for (const Group& group : part->groups) result.plan.groups.emplace_back(group).phase = phase;
        buffers.insert(buffers.end(), part->buffers.begin(), part->buffers.end());
      }
    }
    CopyConstants(target_, &result.plan);
    return result;
  }

  const Graph& graph_;
  const std::string_view source_;
  const Target& target_;
  const PlanOptions& options_;
  const GraphUses uses_;
  GroupPricer pricer_;
  const size_t end_;  // of the operations
  int threads_ = 1;
  std::vector<std::vector<State>> states_;  // by operations done, and the one that the phase began with
  std::map<std::pair<size_t, size_t>, Part> repeated_;
};

}  // namespace

absl::StatusOr<PlanResult> SearchPlan(const Graph& graph, std::string_view source, const CostModel& model,
                                      const PlanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Graph split = SplitReductions(graph);
  absl::StatusOr<PlanResult> result = Planner(split, source, model, options).Run();
  if (result.ok())
    result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
