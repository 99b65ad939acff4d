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

// Solves a family of which SpecFamily::SharesConstant is true: each member with the copy it likes best, then
// all with the one that is best for the family's mixture (evenly: where not all members are solved, those
// that are count for their neighbours). What members lose is then against their own copies.
absl::StatusOr<FamilySynthesis> SolveWithSharedCopy(const SolveArguments& arguments,
                                                    const KernelRequest& request, const Target& target,
                                                    const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                                    const SolveMembers& solve_members);

// Of members of these sizes, of which only some are solved, ascending: what those count for that are, if all
// are asked for evenly. The others lie, as to what they cost, between the two next to them (see
// FindSizeRegions), or beyond the last one.
std::vector<double> EvenWeights(const std::vector<uint32_t>& sizes, const std::vector<bool>& solved);

// What the members' copies are, for what mixture ("": evenly), and what it costs more than with a copy for
// each size. Of a family that shares some.
struct SharedCopyFacts {
  std::string layout, mixture;
  double loss = 0;
};
SharedCopyFacts SharedCopyFactsOf(const FamilySynthesis& synthesis);

// The same for people: a line, nothing if the members share none.
std::string SharedCopyText(const FamilySynthesis& synthesis);

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

#endif  // KIRSCH_SYNTHESIS_SHARED_PACKING_H_
