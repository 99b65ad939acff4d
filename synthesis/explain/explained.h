// SPDX-License-Identifier: Apache-2.0
// Why programs are the way they are: what `explain` prints, as data that text, JSON and pages (tools/) are
// made of.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "search/explain/explain.h"
#include "search/explain/explain_plan.h"
#include "spec/level.h"
#include "spec/text/cat.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/family.h"

namespace kirsch {

// A program or plan: what all of them have, and what only its kind has.
struct ExplainedMember {
  const Synthesis* synthesis = nullptr;
  std::variant<Explanation, ExplainedPlan> explanation;
  double cycles = 0;                 // predicted
  Traffic traffic = {};              // of the whole
  std::vector<double> by_kind = {};  // cycles, indexed by CycleKind
};

// What was asked for: of a family, the largest member of each region, in their order.
struct ExplainedKernel {
  const FamilySynthesis* synthesis = nullptr;
  std::vector<ExplainedMember> members;
  std::optional<Best> best;  // its cheapest programs, if they were asked for

  bool is_family() const { return synthesis->members.size() > 1; }
};

// `synthesis` was solved with SolveArguments::explain, and outlives the result.
ExplainedKernel ExplainKernel(const FamilySynthesis& synthesis);

// For people: the program, a step a line with what it costs; what its register tiles do; what it moves.
std::string ExplainText(const ExplainedKernel& kernel);

// "12 KiB", "3.1 MiB".
std::string Amount(double bytes);

// "L2 16 KiB, RAM 4 MiB" of bytes by level; nothing if all are zero.
template <typename Amounts>
std::string ByLevel(const Amounts& amounts) {
  std::string text;
  for (size_t level = 0; level < amounts.size(); ++level)
    if (amounts[level] > 0)
      Append(&text, text.empty() ? "" : ", ", kLevelNames[level], " ",
             Amount(static_cast<double>(amounts[level])));
  return text;
}

// How much a runner-up costs more, in percent; and behind what it is: "tile m 64, +1.25%".
double Margin(double cycles, double other_cycles);
std::string RunnerUpText(std::string_view what, double cycles, double other_cycles);

// The five lines that an explanation begins with: time, share of the peak, what bounds it, where the cycles
// go, and the runner-up.
std::string SummaryText(const ExplainedMember& member);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_
