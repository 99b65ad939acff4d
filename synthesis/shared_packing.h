// SPDX-License-Identifier: Apache-2.0
// Families with a constant operand: packed in one way for all members.
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

// Solves all members as `arguments` say.
using SolveMembers = std::function<absl::StatusOr<FamilySynthesis>(const SolveArguments& arguments)>;

// Has the family a constant operand, or constant parameters, that its members are to share?
bool SharesConstants(const KernelRequest& request);

// Solves such a family: members as each is best, then all with the packing that is best for the family's
// mixture. What members lose is against their own packing, where they were solved so. Where the mixture says
// that sizes are asked for evenly, some members stand for their neighbours: of specs those that are solved
// (not all are where programs are shared), of graphs those of usual sizes. All plans have one packed buffer.
absl::StatusOr<FamilySynthesis> SolveWithSharedPacking(const SolveArguments& arguments,
                                                       const KernelRequest& request, const Target& target,
                                                       const std::shared_ptr<Memo>& memo,
                                                       SearchBudget& budget,
                                                       const SolveMembers& solve_members);

// Of graphs alone.
absl::StatusOr<FamilySynthesis> SolveGraphsWithSharedPacking(
    const SolveArguments& arguments, const KernelRequest& request, const Target& target,
    const std::shared_ptr<Memo>& memo, SearchBudget& budget, const SolveMembers& solve_members);

// Of members of these sizes, of which only some are solved, ascending: what those count for that are, if all
// are asked for evenly. The others lie, as to what they cost, between the two next to them (see
// FindSizeRegions), or beyond the last one.
std::vector<double> EvenWeights(const std::vector<uint32_t>& sizes, const std::vector<bool>& solved);

// FamilySynthesis::packing for people: a line, nothing if the members share none.
std::string SharedPackingText(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SHARED_PACKING_H_
