// SPDX-License-Identifier: Apache-2.0
// A kernel of a single size, solved.
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

// Its program, and what the search learned.
struct Synthesis {
  std::string name;  // one line: a spec's text, or what a graph is called
  Target target;
  ProgramTree program;
  double cycles = 0;        // predicted
  double bound_cycles = 0;  // no program costs less
  StopReason stop = StopReason::kOptimal;
  std::string_view stop_name = {};  // for people
  SearchStats stats = {};
  double seconds = 0, table_seconds = 0;  // see SearchResult
  bool from_table = false;                // likewise, of a spec; of a graph `stop_name` says it
  std::shared_ptr<Memo> memo = {};        // what the search learned; null where there was none
  // Of a spec with a constant operand, in predicted cycles: its packing, and a call of the kernel without
  // `const`. 0 where none is, or the search was stopped.
  double pack_cycles = 0, unpacked_cycles = 0;
  std::optional<double> unfused_cycles = {};  // of a graph, see PlanResult
  // What was measured of it, if that was asked for; the program is the fastest.
  std::optional<TuningReport> tuned = {};

  double gflops() const;  // predicted
};

Synthesis MakeSynthesis(const ParsedSpec& parsed, const Target& target, SearchResult result,
                        std::shared_ptr<Memo> memo);
Synthesis MakeSynthesis(const Target& target, PlanResult result, std::shared_ptr<Memo> memo = nullptr);

// Why the program is what it is: the search's reason to stop; "tuned" where another was measured to be
// faster.
std::string_view StopName(const Synthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SYNTHESIS_H_
