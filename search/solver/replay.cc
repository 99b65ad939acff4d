// SPDX-License-Identifier: Apache-2.0
#include "search/solver/replay.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/solver.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// A program, or a part of one, and its cost for one run.
struct Priced {
  Impl impl;
  Cost cost;
};

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
  std::stable_sort(near.begin(), near.end(),
                   [&](const Decision& a, const Decision& b) { return distance(a) < distance(b); });
  if (near.size() > kMostNamed) near.resize(kMostNamed);
  std::stable_sort(near.begin(), near.end(),
                   [](const Decision& a, const Decision& b) { return a.size < b.size; });
  std::vector<std::string> texts;
  for (const Decision& other : near) texts.push_back(PrintDecision(spec.op, other));
  return texts.empty() ? "" : Cat(" (there are ", Join(texts, ", "), ")");
}

// Walks the schedule and the specs it makes side by side, from the root down.
class Replayer {
 public:
  Replayer(std::string_view file, const CostModel& model, Memo& memo, const SearchOptions& options)
      : file_(file), model_(model), solver_(model, memo, options, 0) {}

  // The program of `spec` by `schedule`. Checks each decision against the rewrites and limits that the search
  // goes by. So a schedule cannot make a program outside of the stated space.
  absl::StatusOr<Priced> Build(const Spec& spec, const Schedule& schedule, Lines available) {
    const Decision& decision = schedule.decision;
    if (decision.kind == RewriteKind::kNone) return Search(spec, schedule.position, available);
    if (!IsLegal(spec, decision, model_.target()))
      return ErrorAt(file_, schedule.position,
                     Cat("expected a decision that is in the space of '", PrintSpec(spec), "'",
                         NearDecisions(spec, decision, model_.target()), ", got '",
                         PrintDecision(spec.op, decision), "'"));
    Expansion expansion;
    Expand(spec, decision, model_.target(), &expansion);
    const Lines below = AvailableBelow(spec, expansion, available, model_.target());
    if (below < 0)
      return ErrorAt(file_, schedule.position,
                     Cat("expected a tile that fits, got ", expansion.filled_lines, " lines for ",
                         Name(expansion.filled), ", which has room for ",
                         RoomFor(spec, expansion, available, model_.target())));
    if (schedule.children.size() > static_cast<size_t>(expansion.num_children))
      return ErrorAt(file_, schedule.children[static_cast<size_t>(expansion.num_children)].position,
                     Cat("expected no more than ", expansion.num_children, " decisions below '",
                         PrintDecision(spec.op, decision), "'"));
    return BuildChildren(spec, schedule, expansion, below);
  }

  const SearchStats& stats() const { return solver_.stats(); }

 private:
  // Builds the children in execution order. A child for which the schedule has no line is searched.
  absl::StatusOr<Priced> BuildChildren(const Spec& spec, const Schedule& schedule, const Expansion& expansion,
                                       Lines below) {
    Priced result{{spec, schedule.decision, {}}, model_.Base(spec, schedule.decision, expansion)};
    for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
      const Expansion::Child& child = expansion.children[i];
      const Schedule open{{}, {}, schedule.position};
      absl::StatusOr<Priced> built =
          Build(child.spec, i < schedule.children.size() ? schedule.children[i] : open, below);
      if (!built.ok()) return built.status();
      result.cost += child.weight * built->cost;
      result.impl.children.push_back({child.trips, std::move(built->impl)});
    }
    return result;
  }

  // The optimum of a spec that the schedule leaves open. The solver's memo keeps answers for specs that come
  // up again.
  absl::StatusOr<Priced> Search(const Spec& spec, TextPosition position, Lines available) {
    const Solver::Outcome outcome = solver_.Solve(spec, available, kInfiniteCost);
    if (!outcome.solved) return ErrorAt(file_, position, Cat("found no program for '", PrintSpec(spec), "'"));
    return Priced{solver_.Reconstruct(spec, available), outcome.cost};
  }

  const std::string_view file_;
  const CostModel& model_;
  Solver solver_;
};

}  // namespace

absl::StatusOr<SearchResult> Replay(const Spec& placed_root, const Schedule& schedule, std::string_view file,
                                    const CostModel& model, Memo& memo, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Replayer replayer(file, model, memo, options);
  absl::StatusOr<Priced> built =
      replayer.Build(placed_root, schedule, AvailableAtPlacement(placed_root, model.target()));
  if (!built.ok()) return built.status();
  SearchResult result;
  result.impl = std::move(built->impl);
  result.cost = built->cost;
  result.bound = model.LowerBound(placed_root);
  result.stop = StopReason::kPinned;
  result.stats = replayer.stats();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
