// The K cheapest programs of a spec on the command line: explain --best.
#ifndef KIRSCH_TOOLS_BEST_PROGRAMS_H_
#define KIRSCH_TOOLS_BEST_PROGRAMS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "search/k_best.h"
#include "tools/family.h"

namespace kirsch {

// Of what is one spec, no graph and no family, and was searched for; else InvalidArgument. Ctrl-C ends it
// with as many as are known.
absl::StatusOr<KBestResult> BestPrograms(const FamilySynthesis& synthesis, int count);

// A line for each: rank, cycles, how much above the best, and where it first departs from that.
std::string BestText(const KBestResult& best);

// {complete, programs: [{rank, cost_cycles, above, schedule, departs: {path, spec, best,
// instead}}]}; `above` is a fraction of the best's cost, and the first has no `departs`.
nlohmann::ordered_json BestJson(const KBestResult& best);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_BEST_PROGRAMS_H_
