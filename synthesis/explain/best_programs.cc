// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/best_programs.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "synthesis/graph_kernel.h"

namespace kirsch {
namespace {

// These overloads read the same fact from a ranked program and from a ranked plan. So the functions below are
// written once for both.
double PredictedCycles(const RankedProgram& program) { return ToCycles(program.cost); }
double PredictedCycles(const RankedPlan& plan) { return plan.plan.cycles; }

std::string ScheduleOf(const RankedProgram& program) { return PrintSchedule(program.impl); }
std::string ScheduleOf(const RankedPlan& plan) { return PrintPlanSchedule(plan.plan); }

// False of the first program alone: it is the best.
bool Departs(const Departure& departure) { return departure.instead.kind != RewriteKind::kNone; }
bool Departs(const PlanDeparture& departure) { return !departure.where.empty(); }

// "at root: tile m 8, not tile m 16  # matmul f32 ...". The path "0.1" leads to the second child of the
// root's first child.
std::string DepartureText(const Departure& departure) {
  return Cat("at ", departure.path.empty() ? "root" : absl::StrJoin(departure.path, "."), ": ",
             PrintDecision(departure.spec.op, departure.instead), ", not ",
             PrintDecision(departure.spec.op, departure.best), "  # ", PrintSpec(departure.spec));
}
std::string DepartureText(const PlanDeparture& departure) {
  return Cat(departure.where, ": ", departure.instead, ", not ", departure.best);
}

// The list that each kind of result holds, under one name.
const std::vector<RankedProgram>& RankedList(const KBestResult& best) { return best.programs; }
const std::vector<RankedPlan>& RankedList(const KBestPlansResult& best) { return best.plans; }

template <typename Ranked>
double Above(const std::vector<Ranked>& all, const Ranked& one) {
  return PredictedCycles(one) / PredictedCycles(all.front()) - 1;
}

// Where `one` first departs from `other`, which need not be the best.
Departure Between(const RankedProgram& one, const RankedProgram& other) {
  return CompareWithBest(one.impl, other.impl);
}
PlanDeparture Between(const RankedPlan& one, const RankedPlan& other) {
  return CompareWithBest(one.plan, other.plan);
}

// A departure from the program number `from` of the list, counted from 0.
template <typename Ranked>
struct Difference {
  size_t from = 0;
  decltype(Ranked::departure) departure;
};

// Compares each program with the best. If an earlier one departs from the best in the same way, the program
// is compared with that one instead, and so on. So no two lines say the same.
template <typename Ranked>
std::vector<Difference<Ranked>> FindDifferences(const std::vector<Ranked>& all) {
  std::map<std::string, size_t> known;  // by what is said of them
  std::vector<Difference<Ranked>> differences;
  for (size_t i = 0; i < all.size(); ++i) {
    Difference<Ranked> difference = {0, all[i].departure};
    // The key says both what is compared with and how they differ. It is new, or known from an earlier
    // program; then go on from that one. Each round compares with a later program, so the loop ends.
    while (Departs(difference.departure)) {
      const std::string text = Cat(difference.from, " ", DepartureText(difference.departure));
      const auto [before, is_new] = known.try_emplace(text, i);
      if (is_new) break;
      difference = {before->second, Between(all[i], all[before->second])};
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

template <typename Ranked>
std::string TextOf(const Difference<Ranked>& difference) {
  if (!Departs(difference.departure)) return "";
  return Cat(difference.from > 0 ? Cat("  as ", difference.from + 1, ", but ") : "  ",
             DepartureText(difference.departure));
}

template <typename Result>
std::string TextOf(const Result& best) {
  std::string text =
      absl::StrFormat("%5s %14s %10s  first departs from the best\n", "rank", "cycles", "above");
  const auto& all = RankedList(best);
  const auto differences = FindDifferences(all);
  for (size_t i = 0; i < all.size(); ++i)
    absl::StrAppendFormat(&text, "%5d %14.1f %+9.4f%%%s\n", i + 1, PredictedCycles(all[i]),
                          100 * Above(all, all[i]), TextOf(differences[i]));
  if (!best.complete) text += "stopped: there may be others as cheap behind these\n";
  return text;
}

template <typename Result>
std::vector<BestEntry> MakeEntries(const Result& best) {
  std::vector<BestEntry> entries;
  const auto& all = RankedList(best);
  const auto differences = FindDifferences(all);
  for (size_t i = 0; i < all.size(); ++i) {
    BestEntry entry{ScheduleOf(all[i]), PredictedCycles(all[i]), Above(all, all[i]), {}, differences[i].from};
    if (Departs(differences[i].departure)) entry.departure = differences[i].departure;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// A program's own spec is asked about: its operands have the places at which it was the cheapest.
absl::StatusOr<Best> FindBest(const Impl& impl, const SolveArguments&, const CostModel& model, Memo& memo,
                              const RankOptions& rank, const SearchOptions& search) {
  return KBest(impl.spec, rank, model, memo, search);
}
absl::StatusOr<Best> FindBest(const Plan& plan, const SolveArguments& arguments, const CostModel& model,
                              Memo& memo, const RankOptions& rank, const SearchOptions& search) {
  absl::StatusOr<KBestPlansResult> best =
      KBestPlans(plan.graph, "", rank, model, memo, MakePlanOptions(arguments, plan.graph), search);
  if (!best.ok()) return best.status();
  return *std::move(best);
}

}  // namespace

absl::StatusOr<Best> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
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

std::string BestText(const Best& best) {
  return std::visit([](const auto& found) { return TextOf(found); }, best);
}

std::vector<BestEntry> MakeEntries(const Best& best) {
  return std::visit([](const auto& found) { return MakeEntries(found); }, best);
}

size_t ProgramCount(const Best& best) {
  return std::visit([](const auto& found) { return RankedList(found).size(); }, best);
}

bool IsComplete(const Best& best) {
  return std::visit([](const auto& found) { return found.complete; }, best);
}

double SecondsOf(const Best& best) {
  return std::visit([](const auto& found) { return found.seconds; }, best);
}

}  // namespace kirsch
