// SPDX-License-Identifier: Apache-2.0
// Chooses one packing of constant operands for all members of a family. The caller packs weights once, and
// then calls the function with any size; so all sizes must read the same bytes.
#ifndef KIRSCH_SYNTHESIS_SHARED_PACKING_H_
#define KIRSCH_SYNTHESIS_SHARED_PACKING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/language/kernel_file.h"
#include "synthesis/family.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"

namespace kirsch {

// Solves all members as `arguments` say. SolveFamily passes this in, so that members may share programs here,
// too.
using SolveMembers = std::function<absl::StatusOr<FamilySynthesis>(const SolveArguments& arguments)>;

// True if the family has a constant operand, or constant parameters, that its members are to share.
bool SharesConstants(const KernelRequest& request);

// Solves such a family twice: first each member as it is best, then all with the packing that is best for the
// family's mixture. A member's loss is against its own packing, where it was solved alone.
//
// Without a mixture, some members stand for their neighbours. Of specs those are the members that are solved,
// which are not all where programs are shared. Of graphs they are those of usual sizes. All plans have one
// packed buffer.
absl::StatusOr<FamilySynthesis> SolveWithSharedPacking(const SolveArguments& arguments,
                                                       const KernelRequest& request, const Target& target,
                                                       const std::shared_ptr<Memo>& memo,
                                                       SearchBudget& budget,
                                                       const SolveMembers& solve_members);

// The same for families of graphs, whose plans pack several constants and fold operations on them
// (graph_packing.cc).
absl::StatusOr<FamilySynthesis> SolveGraphsWithSharedPacking(
    const SolveArguments& arguments, const KernelRequest& request, const Target& target,
    const std::shared_ptr<Memo>& memo, SearchBudget& budget, const SolveMembers& solve_members);

// How often each value counts without a mixture: a size n counts 1/n times, so sizes of every magnitude count
// alike, and the value of a sample counts for all sizes that it stands for. The weights are spread over the
// values that are solved. One between two of them costs about what lies between their costs (see
// FindSpecRegions), so it counts for both, more for the nearer one. Values before the first and after the
// last count for that one. A size of 0 counts as one of 1.
//    sizes 1 2 3 4, solved 1 and 3:   weights 1.25  0  0.83  0
std::vector<double> WeightsWithoutMixture(const VaryingSize& size, const std::vector<bool>& solved);

// One line for people on the packing that members share; empty if they share none.
//    packed once: rhs packed f32; 0.00% above each size's own copy, for calls of size n 1/n as often
std::string SharedPackingText(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SHARED_PACKING_H_
