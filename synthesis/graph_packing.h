// Families of graphs with constant parameters: packed in one way for all members.
#ifndef KIRSCH_SYNTHESIS_GRAPH_PACKING_H_
#define KIRSCH_SYNTHESIS_GRAPH_PACKING_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/language/kernel_file.h"
#include "synthesis/family.h"
#include "synthesis/search_budget.h"
#include "synthesis/shared_packing.h"
#include "synthesis/solve.h"

namespace kirsch {

// Has the family constant parameters that its members are to share?
bool SharesConstants(const KernelRequest& request);

// Solves such a family: those members that the mixtures name (evenly: those of usual sizes, which stand for
// their neighbours) as they are best, then all with the packing that is best for these together. All plans
// have one packed buffer then; what members lose is against their own packing, where they were solved so.
absl::StatusOr<FamilySynthesis> SolveWithSharedPacking(const SolveArguments& arguments,
                                                       const KernelRequest& request, const Target& target,
                                                       const std::shared_ptr<Memo>& memo,
                                                       SearchBudget& budget,
                                                       const SolveMembers& solve_members);

// "1:0.7,64:0.3", of several sizes "m 1:0.7,64:0.3; n evenly"; "": all sizes evenly.
std::string MixtureText(const GraphFamily& family);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_GRAPH_PACKING_H_
