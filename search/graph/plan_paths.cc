// SPDX-License-Identifier: Apache-2.0
#include "search/graph/plan_paths.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "cost/cost.h"

namespace kirsch {
namespace {

bool Contains(OperationSet all, OperationSet part) { return (part & ~all) == 0; }

// True if both have paths of the same lengths, in the same phases.
template <typename StatesOfSet>
bool AreAsLong(const StatesOfSet& a, const StatesOfSet& b) {
  const auto as_long = [](const auto& x, const auto& y) { return x.cycles == y.cycles; };
  return std::ranges::equal(a, b, [&](const auto& x, const auto& y) {
    return x.first == y.first && std::ranges::equal(x.second, y.second, as_long);
  });
}

}  // namespace

absl::StatusOr<std::vector<PlanPath>> PlanPaths::Shortest(const std::vector<PlanStep>& first) {
  // Only nothing is done, and the first phase has begun. The steps that are given come first.
  states_.assign(fusion_graph_.done().size(), {});
  states_[0][0] = {State{}};
  start_ = 0;
  for (const PlanStep& step : first) {
    double cycles = 0;
    for (const GroupQuestion& group : step.groups) {
      const absl::StatusOr<double> length = length_(group);
      if (!length.ok()) return length.status();
      cycles += *length;
    }
    Reach(step, cycles);
    start_ = step.end;
  }
  // A set has a larger number than all that it contains. So when its turn comes, all sets before it have
  // their paths.
  for (size_t end = start_ + 1; end < states_.size(); ++end)
    if (absl::Status status = ReachAll(end); !status.ok()) return status;
  return PathsTo(states_.size() - 1);
}

// Where no path of a set goes through a group that is longer, or through a set whose paths are, its paths are
// still the shortest: all others have only grown.
absl::StatusOr<std::vector<PlanPath>> PlanPaths::ShortestAgain(const std::vector<GroupQuestion>& longer) {
  std::vector<bool> changed(states_.size());
  const auto is_longer = [&](const State& state) {
    return changed[state.step.from] ||
           std::ranges::any_of(state.step.groups, [&](const GroupQuestion& group) {
             return std::ranges::find(longer, group) != longer.end();
           });
  };
  for (size_t end = start_ + 1; end < states_.size(); ++end) {
    if (std::ranges::none_of(states_[end], [&](const auto& of_phase) {
          return std::ranges::any_of(of_phase.second, is_longer);
        }))
      continue;
    const StatesOfSet before = std::exchange(states_[end], {});
    if (absl::Status status = ReachAll(end); !status.ok()) return status;
    changed[end] = !AreAsLong(before, states_[end]);
  }
  return PathsTo(states_.size() - 1);
}

// Goes to the set from all sets that lead there by one group, the smallest groups first. With several
// threads, it also goes there by two groups: one that each thread repeats for itself, and one that they
// share. Only the shared group may need the values of the repeated one.
absl::Status PlanPaths::ReachAll(size_t end) {
  if (!Contains(fusion_graph_.done()[end], fusion_graph_.done()[start_])) return absl::OkStatus();
  const Workers workers = options_.threads > 1 ? Workers::kShared : Workers::kOne;
  std::vector<std::pair<PlanStep, double>> last;
  for (size_t from : fusion_graph_.Before(end)) {
    if (!MayStart(from)) continue;
    const OperationSet group = fusion_graph_.done()[end] & ~fusion_graph_.done()[from];
    if ((!options_.fuse && std::popcount(group) > 1) || group == options_.banned) continue;
    const absl::StatusOr<double> cycles = length_({group, workers});
    if (!cycles.ok()) return cycles.status();
    if (*cycles == kInfiniteCycles) continue;
    const PlanStep step{from, end, {{group, workers}}};
    Reach(step, *cycles);
    if (options_.threads > 1 && options_.fuse) last.emplace_back(step, *cycles);
  }
  for (const auto& [step, cycles] : last)
    if (absl::Status status = ReachRepeating(end, step, cycles); !status.ok()) return status;
  return absl::OkStatus();
}

// `last` is the step of the shared group; `each` comes before it. Its values must have no reader outside of
// both.
absl::Status PlanPaths::ReachRepeating(size_t end, const PlanStep& last, double cycles) {
  for (size_t from : fusion_graph_.Before(last.from)) {
    if (!MayStart(from)) continue;
    const OperationSet repeated = fusion_graph_.done()[last.from] & ~fusion_graph_.done()[from];
    if (!fusion_graph_.IsForOnly(fusion_graph_.done()[end], repeated) || repeated == options_.banned)
      continue;
    const GroupQuestion each{repeated, Workers::kEach};
    const absl::StatusOr<double> more = length_(each);
    if (!more.ok()) return more.status();
    if (*more < kInfiniteCycles) Reach({from, end, {each, last.groups.front()}}, *more + cycles);
  }
  return absl::OkStatus();
}

// Extends every path that leads to the step's start. A step waits if it reads what was made since its phase
// began.
void PlanPaths::Reach(PlanStep step, double cycles) {
  const OperationSet before = fusion_graph_.done()[step.from];
  const OperationSet groups = fusion_graph_.done()[step.end] & ~before;
  for (const auto& [begin, states] : states_[step.from]) {
    step.waits = options_.threads > 1 && (fusion_graph_.ReadBy(groups) & before & ~begin) != 0;
    States& after = states_[step.end][step.waits ? before : begin];
    for (size_t rank = 0; rank < states.size(); ++rank) {
      const double total = states[rank].cycles + cycles + (step.waits ? options_.barrier_cycles : 0);
      if (total < kInfiniteCycles && IsAmong(after, total)) Insert({total, begin, rank, step}, &after);
    }
  }
}

// Puts a path behind those that are as short, so that of equal paths the first one found stays first.
void PlanPaths::Insert(State state, States* states) const {
  const auto place =
      std::upper_bound(states->begin(), states->end(), state.cycles,
                       [](double cycles, const State& known) { return cycles < known.cycles; });
  states->insert(place, std::move(state));
  if (states->size() > options_.count) states->pop_back();
}

bool PlanPaths::MayStart(size_t from) const {
  const bool reached = std::any_of(states_[from].begin(), states_[from].end(),
                                   [](const auto& known) { return !known.second.empty(); });
  return reached && Contains(fusion_graph_.done()[from], fusion_graph_.done()[start_]);
}

// The shortest paths over all phases in which the set may end. Each is read backwards from its last state.
std::vector<PlanPath> PlanPaths::PathsTo(size_t set) const {
  std::vector<const State*> last;
  for (const auto& [begin, states] : states_[set])
    for (const State& state : states) last.push_back(&state);
  std::stable_sort(last.begin(), last.end(),
                   [](const State* a, const State* b) { return a->cycles < b->cycles; });
  // Only now are paths with different phases compared: until the end, one that is longer may still save a
  // barrier.
  last.resize(std::min(last.size(), options_.count));
  std::vector<PlanPath> paths;
  for (const State* state : last) {
    PlanPath& path = paths.emplace_back(PlanPath{state->cycles, {}});
    for (; !state->step.groups.empty(); state = &states_[state->step.from].at(state->begin)[state->rank])
      path.steps.push_back(state->step);
    std::reverse(path.steps.begin(), path.steps.end());
  }
  return paths;
}

}  // namespace kirsch
