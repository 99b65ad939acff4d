// SPDX-License-Identifier: Apache-2.0
// Writes what `explain` says as JSON. It has no date and no times, so that the same input gives the same
// bytes.
#ifndef KIRSCH_TOOLS_EXPLAIN_JSON_H_
#define KIRSCH_TOOLS_EXPLAIN_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "synthesis/explain/explained.h"

namespace kirsch {

// {kernels: [{kernel, regions, programs, best}]}; docs/json.md describes it. `best` is there if the cheapest
// programs were asked for:
//   {complete, programs: [{rank, cost_cycles, above, schedule, departs: {path, spec, best, instead, from}}]}
//
// `above` is a fraction of the best's cost. The first program has no `departs`. `departs.best` is what the
// program with the rank `from` has. For a plan, `departs` is {where, best, instead, from}.
nlohmann::ordered_json ExplainJson(const std::vector<ExplainedKernel>& kernels);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_JSON_H_
