// Families with a constant operand on the command line: packed in one way for all members.
#ifndef KIRSCH_TOOLS_SHARED_PACKING_H_
#define KIRSCH_TOOLS_SHARED_PACKING_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/language/kernel_file.h"
#include "tools/family.h"
#include "tools/search_budget.h"
#include "tools/solve.h"

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

// What the members' copies are and cost: a line, nothing if they share none; and as FamilyJson has it.
std::string SharedCopyText(const FamilySynthesis& synthesis);
nlohmann::ordered_json SharedCopyJson(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SHARED_PACKING_H_
