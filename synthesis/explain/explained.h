// SPDX-License-Identifier: Apache-2.0
// Why programs are the way they are: what `explain` prints, as data that text, JSON and pages (tools/) are
// made of.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "search/explain/explain.h"
#include "search/explain/explain_plan.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/family.h"

namespace kirsch {

struct ExplainedSpec {
  const Synthesis* synthesis = nullptr;
  Explanation explanation;
};

struct ExplainedGraph {
  const Synthesis* synthesis = nullptr;
  ExplainedPlan explanation;

  const Plan& plan() const { return std::get<Plan>(synthesis->program); }
};

using ExplainedMember = std::variant<ExplainedSpec, ExplainedGraph>;

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

// How much a runner-up costs more, in percent.
double Margin(double cycles, double other_cycles);

// The five lines that an explanation begins with: time, share of the peak, what bounds it, where the cycles
// go, and the runner-up.
std::string SummaryText(const ExplainedSpec& spec);
std::string SummaryText(const ExplainedGraph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_
