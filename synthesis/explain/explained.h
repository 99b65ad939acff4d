// SPDX-License-Identifier: Apache-2.0
// Explains why programs are the way they are, as data. Text (here), JSON and pages (tools/) are made of it,
// so all say the same.
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

// One explained program or plan. `explanation` has what only its kind has. All pointers are into the solved
// family.
struct ExplainedMember {
  const Synthesis* synthesis = nullptr;
  std::variant<Explanation, ExplainedPlan> explanation;
  double cycles = 0;                 // predicted
  Traffic traffic = {};              // of the whole
  std::vector<double> by_kind = {};  // cycles, indexed by CycleKind
};

// A whole request: its only member, or of a family the last member of each region, in the regions' order.
struct ExplainedKernel {
  const FamilySynthesis* synthesis = nullptr;
  std::vector<ExplainedMember> members;
  std::optional<KBestResult> best;  // its cheapest programs, if they were asked for

  bool is_family() const { return synthesis->members.size() > 1; }
};

// `synthesis` was solved with SolveArguments::explain: only then are second best candidates of a plan known.
// It outlives the result.
ExplainedKernel ExplainKernel(const FamilySynthesis& synthesis);

// Prints it for people: the summary; the program, a step a line with its cost; what its register tiles do;
// what it moves. docs/explain.md says how to read it.
std::string ExplainText(const ExplainedKernel& kernel);

// Bytes for people: "512 B", "12 KiB", "10.5 MiB". A unit begins at ten of it: 4096 KiB, not 4 MiB.
std::string Amount(double bytes);

// "L2 16 KiB, RAM 4096 KiB" from bytes by level; empty if all are 0.
template <typename Amounts>
std::string ByLevel(const Amounts& amounts) {
  std::string text;
  for (size_t level = 0; level < amounts.size(); ++level)
    if (amounts[level] > 0)
      Append(&text, text.empty() ? "" : ", ", kLevelNames[level], " ",
             Amount(static_cast<double>(amounts[level])));
  return text;
}

// How much more a runner-up costs, in percent.
double Margin(double cycles, double other_cycles);
// `what` with that figure behind it: "tile m 64, +1.25%".
std::string RunnerUpText(std::string_view what, double cycles, double other_cycles);

// What bounds a program or a plan: the bottleneck of the step that takes most of the time, or of the kind of
// steps that does.
std::string BoundText(const std::vector<ExplainedNode>& nodes);
std::string BoundText(const ExplainedPlan& explained);

// The five lines that an explanation begins with:
//    time       335.8 us: 1141716 cycles at 3.4 GHz, 87.8 GFLOP/s
//    peak       80.7% of the peak rate of haswell
//    bound by   arithmetic in register tiles: 6x2 of 8 lanes by fma, 100.0% of the peak rate in the loop
//    cycles     register tiles 81.3%, copies, transforms 10.5%, moves into caches 4.4%, ...
//    runner-up  to begin with pack lhs L2 packed f32, not move lhs L2, +0.70%
std::string SummaryText(const ExplainedMember& member);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_EXPLAINED_H_
