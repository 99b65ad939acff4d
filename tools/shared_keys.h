// Families of attentions one of whose sizes is their number of keys, on the command line: plans for any
// number.
#ifndef KIRSCH_TOOLS_SHARED_KEYS_H_
#define KIRSCH_TOOLS_SHARED_KEYS_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "tools/family.h"
#include "tools/search_budget.h"
#include "tools/solve.h"

namespace kirsch {

// Which of the sizes is one that plans may be for any number of (DifferInKeys), for one thread and untuned;
// nothing: none is.
std::optional<size_t> SharedKeysOf(const SolveArguments& arguments, const KernelRequest& request);

// Fills in plans for any number of `keys`, which is that size, what members take with them, and, of the
// first, a middle and the last member of each region, which `solve` finds plans of their own for, what they
// lose. False: there is no plan for any number of keys, and nothing is filled in.
absl::StatusOr<bool> ShareKeys(const SolveArguments& arguments, size_t keys, const Target& target,
                               const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                               const std::function<absl::StatusOr<Member>(int64_t member)>& solve,
                               FamilySynthesis* synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SHARED_KEYS_H_
