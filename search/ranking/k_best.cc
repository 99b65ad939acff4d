// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/k_best.h"

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "search/ranking/outer_choices.h"
#include "search/ranking/ranked_lists.h"
#include "search/solver/limits.h"
#include "search/solver/solver.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"

namespace kirsch {
namespace {

// The text by which whole programs are compared: equal texts are the same code. A program that reads a copy
// others make (operand_copies.h) is none by itself, so its schedule stands for it. Together with the copy its
// code is compared in k_best_plans.cc.
std::string GeneratedCode(const Impl& impl, const Target& target) {
  for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand)
    if (impl.spec.tensor(operand).layout.kind == LayoutKind::kPacked) return PrintSchedule(impl);
  return PrintProgram(WriteProgram(impl, target));
}

// Lists programs of one root that differ in code.
class Ranking {
 public:
  Ranking(const Spec& root, const RankOptions& rank, const CostModel& model, Memo& memo,
          const SearchOptions& options)
      : root_(root),
        rank_(rank),
        available_(AvailableAtPlacement(root, model.target())),
        model_(model),
        solver_(model, memo, options, 0) {}

  // Lists more and more programs until enough differ. Parts that are the same code may go unnoticed
  // (same_code.h), so whole programs are compared once more. Programs left out that way must be made up for.
  std::vector<RankedProgram> Programs(Cost best) {
    const auto count = static_cast<size_t>(rank_.count);
    std::vector<RankedProgram> programs;
    for (size_t listed = count;; listed *= 2) {
      // Each round begins anew. It can find fewer than the one before only if it was stopped; then the older
      // list is kept.
      std::vector<RankedProgram> found;
      const bool all = Collect(listed, best, &found);
      if (found.size() > count) found.resize(count);
      if (found.size() >= programs.size()) programs = std::move(found);
      if (all || solver_.stopped() || programs.size() == count) return programs;
    }
  }

  bool stopped() const { return solver_.stopped(); }

 private:
  // Appends the programs that differ in code among the `count` cheapest by their fragments. True if there are
  // no others.
  bool Collect(size_t count, Cost best, std::vector<RankedProgram>* programs) {
    RankedLists lists(static_cast<int>(count), model_, solver_);
    const double farthest = static_cast<double>(best) * (1 + rank_.farthest);
    absl::Span<const RankedLists::Entry> cheapest;
    bool all = false;
    // The limit grows until enough are below it, or until everything is, or the caller's `farthest`.
    for (Cost above = best / kFirstPart + 1; !all && cheapest.size() < count; above *= 2) {
      Cost limit = above > best * kLargestShare ? kInfiniteCost : best + above;
      if (static_cast<double>(limit) > farthest) limit = static_cast<Cost>(farthest);
      all = limit == kInfiniteCost || static_cast<double>(best + above) > farthest;
      const RankedLists::List& list = lists.Below(root_, available_, limit);
      if (solver_.stopped()) break;
      cheapest = list.Below(limit);
    }
    std::set<std::string> codes;
    for (const RankedLists::Entry& entry : cheapest) {
      Impl impl = lists.Program(root_, available_, entry);
      if (codes.insert(GeneratedCode(impl, model_.target())).second)
        programs->push_back({std::move(impl), ToCycles(entry.cost)});
    }
    return all && cheapest.size() < count;
  }

  const Spec root_;
  const RankOptions& rank_;
  const Lines available_;
  const CostModel& model_;
  Solver solver_;
};

// Chooses from programs with other outer choices. It leaves out twins of those before, the same code, and
// what is too far off.
std::vector<RankedProgram> Chosen(std::vector<RankedProgram> sorted, const RankOptions& rank,
                                  const Target& target) {
  std::vector<RankedProgram> chosen;
  std::set<std::vector<ChoiceKind>> known;
  std::set<std::string> codes;
  for (RankedProgram& program : sorted) {
    const double most = sorted.front().cycles * (1 + rank.farthest);
    if (chosen.size() == static_cast<size_t>(rank.count) || program.cycles >= most) break;
    const auto& impl = std::get<Impl>(program.tree);
    const bool is_new = known.insert(ChoicesOf(impl, target)).second;
    if (codes.insert(GeneratedCode(impl, target)).second && is_new) chosen.push_back(std::move(program));
  }
  return chosen;
}

}  // namespace

KBestResult KBest(const Spec& placed_root, const RankOptions& rank, const CostModel& model, Memo& memo,
                  const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KBestResult result;
  SearchResult best = Search(placed_root, model, memo, options);
  // Without a proven optimum nothing is known of the order of the others, so there is no list then.
  if (best.stop == StopReason::kOptimal && rank.distinct == Distinct::kOuterChoice) {
    result = OuterChoices(best.impl, best.cost, model, memo, options);
    result.programs = Chosen(std::move(result.programs), rank, model.target());
  } else if (best.stop == StopReason::kOptimal) {
    Ranking ranking(placed_root, rank, model, memo, options);
    result.programs = ranking.Programs(best.cost);
    result.complete = !ranking.stopped();
  } else {
    result.complete = false;
  }
  if (result.programs.empty()) result.programs.push_back({std::move(best.impl), ToCycles(best.cost)});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
