// SPDX-License-Identifier: Apache-2.0
#include "search/solver/replay.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/schedule_solver.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Decisions that differ in parameters only: the ones an error can usefully suggest.
bool IsLike(const Decision& a, const Decision& b) {
  return a.kind == b.kind && a.dim == b.dim && a.operand == b.operand;
}

// Lists legal decisions like this one, those with the nearest sizes, for an error message. Returns for
// example " (there are tile k 256, tile k 512)", or nothing if there are none. Sorted by distance to choose
// them, then by size to read.
std::string NearDecisions(const Spec& spec, const Decision& decision, const Target& target) {
  constexpr size_t kMostNamed = 4;
  const auto distance = [&](const Decision& other) {
    return std::abs(int64_t{other.size} - int64_t{decision.size});
  };
  std::vector<Decision> near;
  EnumerateDecisions(spec, target, &near);
  std::erase_if(near, [&](const Decision& other) { return !IsLike(other, decision); });
  std::ranges::stable_sort(near, {}, distance);
  if (near.size() > kMostNamed) near.resize(kMostNamed);
  std::ranges::stable_sort(near, {}, &Decision::size);
  if (near.empty()) return "";
  const auto text = [&](const Decision& other) { return PrintDecision(spec.op, other); };
  return Cat(" (there are ", Join(near, ", ", text), ")");
}

// Says why no decision of the node is one of the spec's: it is not in the space, or does not fit, or has too
// few children.
absl::Status WhyNot(const ScheduleSolver::Failure& failure, std::string_view file, const Target& target) {
  const auto& [node, spec, available] = failure;
  const Decision& decision = node->decision;
  if (node->IsOpen())
    return ErrorAt(file, node->position, Cat("found no program for '", PrintSpec(spec), "'"));
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, target, &decisions);
  const auto fits = std::ranges::find_if(decisions, [&](const auto& other) { return node->Fits(other); });
  const std::string text = PrintDecision(spec.op, *node);
  if (fits == decisions.end())
    return ErrorAt(file, node->position,
                   Cat("expected a decision that is in the space of '", PrintSpec(spec), "'",
                       NearDecisions(spec, decision, target), ", got '", text, "'"));
  Expansion expansion;
  Expand(spec, *fits, target, &expansion);
  if (const auto children = static_cast<size_t>(expansion.num_children); node->children.size() > children)
    return ErrorAt(file, node->children[children].position,
                   Cat("expected no more than ", children, " decisions below '", text, "'"));
  return ErrorAt(
      file, node->position,
      Cat("expected a tile that fits, got ", expansion.filled_lines, " lines for ", Name(expansion.filled),
          ", which has room for ", RoomFor(spec, expansion, available, target)));
}

// Where the solver failed: at the root, if no node is known.
ScheduleSolver::Failure FailureOf(const ScheduleSolver& solver, const Schedule& schedule, const Spec& root,
                                  Lines available) {
  if (solver.failure().node != nullptr) return solver.failure();
  return {&schedule, root, available};
}

// Finds some program of a schedule in little time: that of a search that is stopped. Where there are choices,
// the search needs to look no further than its cost. As few decisions of what is open may lead to no program,
// there are more of them next.
absl::StatusOr<SearchResult> ReplayQuickly(const Spec& root, const Schedule& schedule, std::string_view file,
                                           const CostModel& model, const SearchOptions& asked) {
  constexpr int kQuickWidth = 3, kMostWidth = 1 << 10;
  constexpr double kMoreSeconds = 5;
  for (int width = kQuickWidth;; width *= 2) {
    HashMemo memo;
    SearchOptions options;
    // A program is worth more time than was asked for, but not any time. Who cancels gets one, too.
    if (asked.time_budget_seconds > 0) options.time_budget_seconds = asked.time_budget_seconds + kMoreSeconds;
    ScheduleSolver solver(schedule, model, memo, options, width);
    const Lines available = AvailableAtPlacement(root, model.target());
    SearchResult result;
    if (const std::optional<Cost> cost = solver.Solve(root, available, kInfiniteCost)) {
      result.cost = *cost;
      result.impl = solver.Reconstruct(root, available);
      return result;
    }
    if (solver.stopped())
      return ErrorAt(file, schedule.position, "found no program of the schedule in the time that there was");
    const ScheduleSolver::Failure& failure = solver.failure();
    if (failure.node == nullptr || !failure.node->IsOpen() || width > kMostWidth)
      return WhyNot(FailureOf(solver, schedule, root, available), file, model.target());
  }
}

}  // namespace

absl::StatusOr<SearchResult> Replay(const Spec& placed_root, const Schedule& schedule, std::string_view file,
                                    const CostModel& model, Memo& memo, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Lines available = AvailableAtPlacement(placed_root, model.target());
  absl::StatusOr<SearchResult> result = SearchResult();
  ScheduleSolver solver(schedule, model, memo, options, 0);
  if (solver.HasChoices()) result = ReplayQuickly(placed_root, schedule, file, model, options);
  if (!result.ok()) return result.status();
  const Cost limit = solver.HasChoices() ? result->cost + 1 : kInfiniteCost;
  result->stop = StopReason::kPinned;
  if (const std::optional<Cost> cost = solver.Solve(placed_root, available, limit)) {
    result->cost = *cost;
    result->impl = solver.Reconstruct(placed_root, available);
  } else if (!solver.stopped()) {
    return WhyNot(FailureOf(solver, schedule, placed_root, available), file, model.target());
  } else {
    if (!solver.HasChoices()) result = ReplayQuickly(placed_root, schedule, file, model, {});
    if (!result.ok()) return result.status();
    result->stop = solver.stop_reason();
  }
  result->bound = model.LowerBound(placed_root);
  result->stats = solver.stats();
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
