#include "tools/best_programs.h"

#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "spec/text/cat.h"
#include "spec/text/printer.h"
#include "spec/text/schedule.h"
#include "tools/interrupt.h"

namespace kirsch {
namespace {

double Above(const KBestResult& best, const RankedProgram& program) {
  return ToCycles(program.cost - best.programs.front().cost) / ToCycles(best.programs.front().cost);
}

bool Departs(const RankedProgram& program) { return program.departure.instead.kind != RewriteKind::kNone; }

// "root", "0.1": the second child of the first.
std::string PathText(const Departure& departure) {
  return departure.path.empty() ? "root" : absl::StrJoin(departure.path, ".");
}

nlohmann::ordered_json DepartureJson(const Departure& departure) {
  return {{"path", departure.path},
          {"spec", PrintSpec(departure.spec)},
          {"best", PrintDecision(departure.spec.op, departure.best)},
          {"instead", PrintDecision(departure.spec.op, departure.instead)}};
}

}  // namespace

absl::StatusOr<KBestResult> BestPrograms(const FamilySynthesis& synthesis, int count) {
  if (synthesis.is_graph() || synthesis.members.size() != 1)
    return absl::InvalidArgumentError(
        Cat("--best: expected a spec, got a ", synthesis.is_graph() ? "graph" : "family of sizes"));
  const Synthesis& spec = synthesis.spec(0);
  if (spec.result.stop == StopReason::kPinned)
    return absl::InvalidArgumentError("--best: expected a search, got --schedule");
  const InterruptGuard guard;
  SearchOptions options;
  options.cancel = &guard.interrupted();
  KBestResult best = KBest(spec.result.impl.spec, count, CostModel(spec.target), *spec.memo, options);
  std::fprintf(stderr, "%zu programs in %.3f s; the search took %.3f s\n", best.programs.size(), best.seconds,
               spec.result.seconds);
  return best;
}

std::string BestText(const KBestResult& best) {
  std::string text =
      absl::StrFormat("%5s %14s %10s  first departs from the best\n", "rank", "cycles", "above");
  for (size_t i = 0; i < best.programs.size(); ++i) {
    const RankedProgram& program = best.programs[i];
    const Departure& departure = program.departure;
    absl::StrAppendFormat(&text, "%5d %14.1f %+9.4f%%", i + 1, ToCycles(program.cost),
                          100 * Above(best, program));
    if (Departs(program))
      absl::StrAppendFormat(&text, "  at %s: %s, not %s  # %s", PathText(departure),
                            PrintDecision(departure.spec.op, departure.instead),
                            PrintDecision(departure.spec.op, departure.best), PrintSpec(departure.spec));
    text += "\n";
  }
  if (!best.complete) text += "stopped: there may be others as cheap behind these\n";
  return text;
}

nlohmann::ordered_json BestJson(const KBestResult& best) {
  nlohmann::ordered_json programs = nlohmann::ordered_json::array();
  for (const RankedProgram& program : best.programs) {
    programs.push_back({{"rank", programs.size() + 1},
                        {"cost_cycles", ToCycles(program.cost)},
                        {"above", Above(best, program)},
                        {"schedule", PrintSchedule(program.impl)}});
    if (Departs(program)) programs.back()["departs"] = DepartureJson(program.departure);
  }
  return {{"complete", best.complete}, {"programs", std::move(programs)}};
}

}  // namespace kirsch
