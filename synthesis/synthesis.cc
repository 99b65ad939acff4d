// SPDX-License-Identifier: Apache-2.0
#include "synthesis/synthesis.h"

#include <utility>

#include "cost/cost.h"

namespace kirsch {

double Synthesis::gflops() const { return cycles > 0 ? Flops(program) / cycles * target.ghz : 0; }

Synthesis MakeSynthesis(const ParsedSpec& parsed, const Target& target, SearchResult result,
                        std::shared_ptr<Memo> memo) {
  return {.name = parsed.text,
          .target = target,
          .program = std::move(result.impl),
          .cycles = ToCycles(result.cost),
          .bound_cycles = ToCycles(result.bound),
          .stop = result.stop,
          .stop_name = Name(result.stop),
          .stats = result.stats,
          .seconds = result.seconds,
          .table_seconds = result.table_seconds,
          .from_table = result.from_table,
          .memo = std::move(memo)};
}

Synthesis MakeSynthesis(const Target& target, PlanResult result, std::shared_ptr<Memo> memo) {
  const double cycles = result.plan.cycles;
  return {.name = result.plan.graph.name,
          .target = target,
          .program = std::move(result.plan),
          .cycles = cycles,
          .bound_cycles = result.bound_cycles,
          .stop = result.stop,
          .stop_name = result.from_table ? "from the table" : Name(result.stop),
          .stats = result.stats,
          .seconds = result.seconds,
          .memo = std::move(memo),
          .unfused_cycles = result.unfused_cycles};
}

std::string_view StopName(const Synthesis& synthesis) {
  return IsTuned(synthesis.tuned) ? "tuned" : synthesis.stop_name;
}

}  // namespace kirsch
