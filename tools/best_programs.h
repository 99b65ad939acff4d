// The K cheapest programs of a spec, or plans of a graph, on the command line: explain --best.
#ifndef KIRSCH_TOOLS_BEST_PROGRAMS_H_
#define KIRSCH_TOOLS_BEST_PROGRAMS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/ranking/k_best.h"
#include "search/ranking/k_best_plans.h"
#include "tools/family.h"

namespace kirsch {

using Best = std::variant<KBestResult, KBestPlansResult>;

// Of what is one spec or graph, no family, and was searched for as `arguments` say; else InvalidArgument.
// Ctrl-C ends it with as many as are known. `memo`: of that search.
absl::StatusOr<Best> BestPrograms(const SolveArguments& arguments, const FamilySynthesis& synthesis,
                                  Memo& memo, int count);

// A line for each: rank, cycles, how much above the best, and where it first departs from that; or, if one
// before it does the same there, from that one.
std::string BestText(const Best& best);

// {complete, programs: [{rank, cost_cycles, above, schedule, departs: {path, spec, best, instead,
// from}}]}; `above` is a fraction of the best's cost, and the first has no `departs`. `best` is what the
// program with the rank `from` has. That of a plan: {where, best, instead, from}.
nlohmann::ordered_json BestJson(const Best& best);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_BEST_PROGRAMS_H_
