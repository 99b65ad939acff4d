// SPDX-License-Identifier: Apache-2.0
// Holds the answer for a kernel of a single size: its program, what the program is predicted to cost, and
// what the search learned. Reports, verification and headers all read it.
#ifndef KIRSCH_SYNTHESIS_SYNTHESIS_H_
#define KIRSCH_SYNTHESIS_SYNTHESIS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "memo/memo.h"
#include "search/graph/plan_search.h"
#include "search/solver/search.h"
#include "spec/language/kernel_family.h"
#include "spec/program/program_tree.h"
#include "spec/target.h"
#include "synthesis/tuning_report.h"

namespace kirsch {

// All cycles are of the target's core, for one call. Seconds are those of the search.
struct Synthesis {
  std::string name;  // one line: a spec's text, or what a graph is called
  Target target;
  ProgramTree program;
  double cycles = 0;        // predicted
  double bound_cycles = 0;  // no program costs less; `cycles` if it is optimal
  StopReason stop = StopReason::kOptimal;
  std::string_view stop_name = {};  // for people
  SearchStats stats = {};
  double seconds = 0, table_seconds = 0;  // see SearchResult
  bool from_table = false;                // likewise, of a spec; of a graph `stop_name` says it
  std::shared_ptr<Memo> memo = {};        // what the search learned; null where there was none
  // Of a spec with a constant operand, in predicted cycles: what it costs to pack the operand once, and what
  // a call of the kernel without `const` costs. A call saves `unpacked_cycles` - `cycles`. Both are 0 if
  // there is no such operand, or if the search was stopped.
  double pack_cycles = 0, unpacked_cycles = 0;
  std::optional<double> unfused_cycles = {};  // of a graph, see PlanResult
  // Measurements, if they were asked for. `program` is then the fastest of them.
  std::optional<TuningReport> tuned = {};

  double gflops() const;  // predicted, at the target's clock; 0 without cycles
};

// Both take over what a search returned, for a spec and for a graph.
Synthesis MakeSynthesis(const ParsedSpec& parsed, const Target& target, SearchResult result,
                        std::shared_ptr<Memo> memo);
Synthesis MakeSynthesis(const Target& target, PlanResult result, std::shared_ptr<Memo> memo = nullptr);

// Says why the program is this one: the search's reason to stop, or "tuned" where another program was
// measured to be faster.
std::string_view StopName(const Synthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SYNTHESIS_H_
