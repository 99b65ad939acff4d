// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/best_programs.h"

#include <map>
#include <vector>

#include "absl/strings/str_format.h"
#include "search/ranking/k_best_plans.h"
#include "spec/text/cat.h"
#include "synthesis/graph_kernel.h"

namespace kirsch {
namespace {

// "at root: tile m 8, not tile m 16  # matmul f32 ...". The path "0.1" leads to the second child of the
// root's first child.
std::string DepartureText(const Departure& departure) {
  return Cat(departure.where, ": ", departure.instead, ", not ", departure.best,
             departure.spec.empty() ? "" : Cat("  # ", departure.spec));
}

// A program's own spec is asked about: its operands have the places at which it was the cheapest.
absl::StatusOr<KBestResult> FindBest(const Impl& impl, const SolveArguments&, const CostModel& model,
                                     Memo& memo, const RankOptions& rank, const SearchOptions& search) {
  return KBest(impl.spec, rank, model, memo, search);
}
absl::StatusOr<KBestResult> FindBest(const Plan& plan, const SolveArguments& arguments,
                                     const CostModel& model, Memo& memo, const RankOptions& rank,
                                     const SearchOptions& search) {
  return KBestPlans(plan.graph, "", rank, model, memo, MakePlanOptions(arguments, plan.graph), search);
}

}  // namespace

absl::StatusOr<KBestResult> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
                                         Memo& memo, const RankOptions& rank) {
  if (synthesis.members.size() != 1)
    return absl::InvalidArgumentError("--best: expected a spec or a graph, got a family of sizes");
  if (!arguments.schedule.empty())
    return absl::InvalidArgumentError("--best: expected a search, got --schedule");
  const Step step(arguments.observer, StepKind::kSearch);
  SearchOptions search;
  search.cancel = step.stop();
  const CostModel model(synthesis.target());
  return std::visit(
      [&](const auto& program) { return FindBest(program, arguments, model, memo, rank, search); },
      synthesis.members.front().program);
}

std::string BestText(const KBestResult& best) {
  std::string text =
      absl::StrFormat("%5s %14s %10s  first departs from the best\n", "rank", "cycles", "above");
  int rank = 0;
  for (const BestEntry& entry : MakeEntries(best)) {
    absl::StrAppendFormat(&text, "%5d %14.1f %+9.4f%%", ++rank, entry.program.cycles, 100 * entry.above);
    if (!entry.departure.where.empty())
      Append(&text, entry.from > 0 ? Cat("  as ", entry.from + 1, ", but ") : "  ",
             DepartureText(entry.departure));
    Append(&text, "\n");
  }
  if (!best.complete) text += "stopped: there may be others as cheap behind these\n";
  return text;
}

// Compares each program with the best. If an earlier one departs from the best in the same way, the program
// is compared with that one instead, and so on. So no two lines say the same.
std::vector<BestEntry> MakeEntries(const KBestResult& best) {
  std::map<std::string, size_t> known;  // by what is said of them
  std::vector<BestEntry> entries;
  const std::vector<RankedProgram>& all = best.programs;
  for (size_t i = 0; i < all.size(); ++i) {
    entries.push_back(
        {all[i], all[i].cycles / all.front().cycles - 1, CompareWithBest(all[i].tree, all.front().tree)});
    BestEntry& entry = entries.back();
    // The key says both what is compared with and how they differ. It is new, or known from an earlier
    // program; then go on from that one. Each round compares with a later program, so the loop ends.
    while (!entry.departure.where.empty()) {
      const auto [before, is_new] =
          known.try_emplace(Cat(entry.from, " ", DepartureText(entry.departure)), i);
      if (is_new) break;
      entry.from = before->second;
      entry.departure = CompareWithBest(all[i].tree, all[entry.from].tree);
    }
  }
  return entries;
}

}  // namespace kirsch
