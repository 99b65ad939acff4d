// SPDX-License-Identifier: Apache-2.0
#include "search/graph/plan_paths.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // a length

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
  lengths_.assign(fusion_graph_.done().size(), {});
  lengths_of_repeated_.assign(fusion_graph_.done().size(), {});
  least_.assign(fusion_graph_.done().size(), kInfiniteCycles);
  states_[0][{}] = {State{}};
  least_[0] = 0;
  start_ = 0;
  for (const PlanStep& step : first) {
    double cycles = 0;
    for (const GroupQuestion& group : step.groups) {
      KIRSCH_ASSIGN_OR_RETURN(const double length, length_(group));
      cycles += length;
    }
    Reach(step.from, step.end, step.groups, cycles);
    least_[start_] = kInfiniteCycles;  // all other steps come after the given ones
    start_ = step.end;
  }
  // A set has a larger number than all that it contains. So when its turn comes, all sets before it have
  // their paths.
  for (size_t end = start_ + 1; end < states_.size(); ++end) KIRSCH_RETURN_IF_ERROR(ReachAll(end));
  return PathsTo(states_.size() - 1);
}

// Where no path of a set goes through a group that is longer, or through a set whose paths are, its paths are
// still the shortest: all others have only grown.
absl::StatusOr<std::vector<PlanPath>> PlanPaths::ShortestAgain(const std::vector<GroupQuestion>& longer) {
  // Their lengths are asked for anew.
  for (const auto& [operations, workers] : longer) {
    std::vector<std::vector<double>>& all = workers == Workers::kEach ? lengths_of_repeated_ : lengths_;
    for (const auto& [end, place] : fusion_graph_.EdgesOf(operations))
      if (!all[end].empty()) all[end][place] = kUnknown;
  }
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
    least_[end] = kInfiniteCycles;
    KIRSCH_RETURN_IF_ERROR(ReachAll(end));
    changed[end] = !AreAsLong(before, states_[end]);
  }
  return PathsTo(states_.size() - 1);
}

// Goes to the set from all sets that lead there by one group, the smallest groups first. With several
// threads, it also goes there by two groups: one that each thread repeats for itself, and one that they
// share. Only the shared group may need the values of the repeated one.
absl::Status PlanPaths::ReachAll(size_t end) {
  const Workers workers = options_.threads > 1 ? Workers::kShared : Workers::kOne;
  const std::vector<size_t>& before = fusion_graph_.Before(end);
  std::vector<double>& lengths = lengths_[end];
  lengths.resize(before.size(), kUnknown);
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t from = before[i];
    if (!MayStart(from)) continue;
    // Most paths are too long, and need no group.
    KIRSCH_ASSIGN_OR_RETURN(const double cycles, LengthOf(workers, from, end, i, &lengths));
    if (!IsTooLong(from, end, cycles)) Reach(from, end, {GroupBetween(workers, from, end)}, cycles);
  }
  if (options_.threads == 1) return absl::OkStatus();
  for (size_t i = 0; i < before.size() && options_.fuse; ++i)
    if (lengths[i] < kInfiniteCycles) KIRSCH_RETURN_IF_ERROR(ReachRepeating(before[i], end, lengths[i]));
  if (options_.count == 1) DropLongerPaths(&states_[end]);
  return absl::OkStatus();
}

// The length of the group that is edge number `edge` to the set; infinity if the group may not be. It is
// asked for once, until it grows.
absl::StatusOr<double> PlanPaths::LengthOf(Workers workers, size_t from, size_t end, size_t edge,
                                           std::vector<double>* lengths) {
  double& known = (*lengths)[edge];
  if (!std::isnan(known)) return known;
  const GroupQuestion group = GroupBetween(workers, from, end);
  if ((!options_.fuse && group.first.size() > 1) || group.first == options_.banned)
    return known = kInfiniteCycles;
  KIRSCH_ASSIGN_OR_RETURN(const double length, length_(group));
  return known = length;
}

// A path is of no use if a shorter one to the same set has begun its phase later, or is shorter by more than
// a barrier: whatever follows, the shorter path waits once more at most. Paths that are as long stay, so that
// the choice among them is the same.
void PlanPaths::DropLongerPaths(StatesOfSet* states) const {
  const auto drops = [&](const auto& shorter, const auto& longer) {
    if (shorter.second.empty() || longer.second.empty()) return false;
    const double saved = longer.second.front().cycles - shorter.second.front().cycles;
    return saved > options_.barrier_cycles || (saved > 0 && shorter.first.Contains(longer.first));
  };
  const StatesOfSet all = *states;
  std::erase_if(*states, [&](const auto& longer) {
    return std::ranges::any_of(all, [&](const auto& shorter) { return drops(shorter, longer); });
  });
}

// The last step, from set number `last`, is of the group that the threads share; another one comes before it.
// Its values must have no reader outside of both.
absl::Status PlanPaths::ReachRepeating(size_t last, size_t end, double cycles) {
  const GroupQuestion shared = GroupBetween(Workers::kShared, last, end);
  const std::vector<size_t>& before = fusion_graph_.Before(last);
  std::vector<double>& lengths = lengths_of_repeated_[last];
  lengths.resize(before.size(), kUnknown);
  for (size_t i = 0; i < before.size(); ++i) {
    const size_t from = before[i];
    if (!MayStart(from) || IsTooLong(from, end, cycles + (std::isnan(lengths[i]) ? 0 : lengths[i]))) continue;
    const GroupQuestion each = GroupBetween(Workers::kEach, from, last);
    if (!fusion_graph_.IsForOnly(fusion_graph_.done()[end], each.first)) continue;
    KIRSCH_ASSIGN_OR_RETURN(const double more, LengthOf(Workers::kEach, from, last, i, &lengths));
    if (more < kInfiniteCycles) Reach(from, end, {each, shared}, more + cycles);
  }
  return absl::OkStatus();
}

// Extends every path that leads to the step's start. A step waits if it reads what was made since its phase
// began.
void PlanPaths::Reach(size_t from, size_t end, absl::Span<const GroupQuestion> groups, double cycles) {
  if (IsTooLong(from, end, cycles)) return;
  const OperationSet& before = fusion_graph_.done()[from];
  OperationSet read;
  if (options_.threads > 1) read = fusion_graph_.ReadBy(fusion_graph_.done()[end] - before) & before;
  for (const auto& [begin, states] : states_[from]) {
    const bool waits = !begin.Contains(read);
    States& after = states_[end][waits ? before : begin];
    for (size_t rank = 0; rank < states.size(); ++rank) {
      const double total = states[rank].cycles + cycles + (waits ? options_.barrier_cycles : 0);
      if (total >= kInfiniteCycles || !IsAmong(after, total)) continue;
      least_[end] = std::min(least_[end], total);
      Insert({total, begin, rank, {from, end, {groups.begin(), groups.end()}, waits}}, &after);
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
