// A family of graphs on the command line: all members solved with one memo, and their regions. A single graph
// is a family of one, of which all is said that graph_kernel.h says.
#ifndef KIRSCH_TOOLS_GRAPH_FAMILY_H_
#define KIRSCH_TOOLS_GRAPH_FAMILY_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/header_file.h"
#include "memo/memo.h"
#include "spec/graph_family.h"
#include "tools/graph_kernel.h"
#include "tools/regions.h"
#include "tools/search_budget.h"
#include "tools/solve.h"

namespace kirsch {

struct GraphFamilySynthesis {
  GraphFamily family;
  std::vector<GraphSynthesis> members;  // in the family's order
  Regions regions;                      // of plans that compute the same things together

  const Target& target() const { return members.front().target; }
};

// Solves every member. On a terminal, shows progress. An interrupted search ends the budget. `source`: what
// errors call the text.
absl::StatusOr<GraphFamilySynthesis> SolveGraphFamily(const SolveArguments& arguments,
                                                      const GraphFamily& family, const std::string& source,
                                                      const Target& target, const std::shared_ptr<Memo>& memo,
                                                      SearchBudget& budget);

// The function of all targets' kernels, `name` being theirs, too.
HeaderFunction FunctionOf(const std::string& name, const std::vector<GraphFamilySynthesis>& targets);

// GraphJson's; of several members: kernel, target, version, search, members (their number), regions (see
// RegionJson; plan: that of the largest member), kernels: [{<size> for each that varies, cost_cycles,
// unfused_cycles, predicted_gflops, phases}].
nlohmann::ordered_json GraphFamilyJson(const GraphFamilySynthesis& synthesis);

// What was found, on standard error: a line; of several members, the table of regions, too.
void PrintGraphFamilySummary(const GraphFamilySynthesis& synthesis);

// Why the plans are the way they are: the table, and the plan of each region's largest member.
std::string ExplainedGraphFamily(const GraphFamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_GRAPH_FAMILY_H_
