// SPDX-License-Identifier: Apache-2.0
// What `explain` says, as JSON.
#ifndef KIRSCH_TOOLS_EXPLAIN_JSON_H_
#define KIRSCH_TOOLS_EXPLAIN_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "synthesis/explain/explained.h"

namespace kirsch {

// {kernels: [{kernel, regions, programs}]}, the same bytes whenever it is made; see docs/json.md. Of the
// cheapest programs, where they were asked for, `best`: {complete, programs: [{rank, cost_cycles, above,
// schedule, departs: {path, spec, best, instead, from}}]}; `above` is a fraction of the best's cost, and the
// first has no `departs`. `best` is what the program with the rank `from` has. That of a plan: {where, best,
// instead, from}.
nlohmann::ordered_json ExplainJson(const std::vector<ExplainedKernel>& kernels);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_JSON_H_
