// SPDX-License-Identifier: Apache-2.0
// Lets the members of a family of graphs share plans: for any number of keys, of rows, of both, or of rows
// and columns. One plan serves a range of sizes, as one program does of matmuls (family.h).
#ifndef KIRSCH_SYNTHESIS_SHARED_PLANS_H_
#define KIRSCH_SYNTHESIS_SHARED_PLANS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/program/plan.h"
#include "synthesis/family.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"

namespace kirsch {

// A number that a plan may take as a parameter: a size of the request, or a sum of sizes that has a name.
struct CountedSize {
  size_t name;  // which of the request's sizes it is; behind these come its ties
  SizeSum sum;  // of the request's sizes
  // Keys are those of an attention (DifferInKeys); else rows, as far as is known.
  SizeSymbol symbol = SizeSymbol::kRows;
  bool varies_alone = true;  // false: there are graphs only where another size varies with it
};

// Numbers that a plan may take: one, or two of different symbols. `numbers` are those of the request's sizes
// that they are made of, ascending: one or two.
struct SharedPlanSizes {
  std::vector<size_t> numbers;
  std::vector<CountedSize> counted;
};

// The choices of sizes that are worth trying, the best ones first. None if the kernel is for several threads
// or is tuned, or if few members would share.
std::vector<SharedPlanSizes> FindSharedPlanSizes(const SolveArguments& arguments,
                                                 const KernelRequest& request);

// Fills in the regions and their plans, and what members take with them. False: no plans serve all members,
// and nothing is filled in but the effort of the searches.
//
// `solve` finds the plan that a member has alone. It is asked of the first, a middle and the last member of
// regions, to say what members lose.
absl::StatusOr<bool> SharePlans(const SolveArguments& arguments, const SharedPlanSizes& shared,
                                const Target& target, const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                                FamilySynthesis* synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SHARED_PLANS_H_
