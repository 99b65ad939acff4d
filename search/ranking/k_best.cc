// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/k_best.h"

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "search/ranking/ranked_lists.h"
#include "search/solver/limits.h"
#include "search/solver/solver.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"

namespace kirsch {
namespace {

// How far above the optimum is looked at first; then twice as far, and so on, up to everything.
constexpr Cost kFirstShare = 1024;
constexpr Cost kLargestShare = 64;

// What reads a copy that others make (operand_copies.h) is no program by itself: it is told by its schedule,
// and with what makes the copy by its code (k_best_plans.cc).
std::string GeneratedCode(const Impl& impl, const Target& target) {
  for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand)
    if (impl.spec.tensor(operand).layout.kind == LayoutKind::kPacked) return PrintSchedule(impl);
  return PrintProgram(WriteProgram(impl, target));
}

class Ranking {
 public:
  Ranking(const Spec& root, const CostModel& model, Memo& memo, const SearchOptions& options)
      : root_(root),
        available_(AvailableAtPlacement(root, model.target())),
        model_(model),
        memo_(memo),
        solver_(model, memo, options, 0) {}

  // Parts of programs that are the same code may go unnoticed (same_code.h), whole ones may not: where some
  // are left out, more are listed.
  std::vector<RankedProgram> Programs(int count, Cost best) {
    std::vector<RankedProgram> programs;
    for (int listed = count;; listed *= 2) {
      std::vector<RankedProgram> found;
      const bool all = Collect(listed, best, &found);
      if (found.size() > static_cast<size_t>(count)) found.resize(static_cast<size_t>(count));
      if (found.size() >= programs.size()) programs = std::move(found);
      if (all || solver_.stopped() || programs.size() == static_cast<size_t>(count)) return programs;
    }
  }

  bool stopped() const { return solver_.stopped(); }

 private:
  // The programs that differ in code among the `count` cheapest by their fragments; true if there are no
  // others.
  bool Collect(int count, Cost best, std::vector<RankedProgram>* programs) {
    RankedLists lists(count, model_, memo_, solver_);
    absl::Span<const RankedLists::Entry> cheapest;
    bool all = false;
    for (Cost above = best / kFirstShare + 1; !all && cheapest.size() < static_cast<size_t>(count);
         above *= 2) {
      all = above > best * kLargestShare;
      const Cost limit = all ? kInfiniteCost : best + above;
      const RankedLists::List& list = lists.Below(root_, available_, limit);
      if (solver_.stopped()) break;
      cheapest = list.Below(limit);
    }
    std::set<std::string> codes;
    for (const RankedLists::Entry& entry : cheapest) {
      RankedProgram program{lists.Program(root_, available_, entry), entry.cost, {}};
      if (!codes.insert(GeneratedCode(program.impl, model_.target())).second) continue;
      program.departure =
          CompareWithBest(program.impl, programs->empty() ? program.impl : programs->front().impl);
      programs->push_back(std::move(program));
    }
    return all && cheapest.size() < static_cast<size_t>(count);
  }

  const Spec root_;
  const Lines available_;
  const CostModel& model_;
  Memo& memo_;
  Solver solver_;
};

bool FindDeparture(const Impl& impl, const Impl& best, Departure* departure) {
  if (!(impl.decision == best.decision)) {
    departure->spec = impl.spec;
    departure->best = best.decision;
    departure->instead = impl.decision;
    return true;
  }
  for (size_t i = 0; i < impl.children.size(); ++i) {
    departure->path.push_back(static_cast<int>(i));
    if (FindDeparture(impl.children[i].impl, best.children[i].impl, departure)) return true;
    departure->path.pop_back();
  }
  return false;
}

}  // namespace

Departure CompareWithBest(const Impl& impl, const Impl& best) {
  Departure departure;
  FindDeparture(impl, best, &departure);
  return departure;
}

KBestResult KBest(const Spec& placed_root, int count, const CostModel& model, Memo& memo,
                  const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KBestResult result;
  SearchResult best = Search(placed_root, model, memo, options);
  if (best.stop == StopReason::kOptimal) {
    Ranking ranking(placed_root, model, memo, options);
    result.programs = ranking.Programs(count, best.cost);
    result.complete = !ranking.stopped();
  } else {
    result.complete = false;
  }
  if (result.programs.empty()) result.programs.push_back({std::move(best.impl), best.cost, {}});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
