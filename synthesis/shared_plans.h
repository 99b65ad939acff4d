// SPDX-License-Identifier: Apache-2.0
// Families of graphs that share plans for ranges of their sizes: for any number of keys, of rows, or of both.
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

// Sizes of a request that plans may be for any of: one, or two of different kinds, in their order.
struct SharedPlanSizes {
  std::vector<size_t> numbers;
  std::vector<PlanSizeKind>
      kinds;  // keys are those of an attention (DifferInKeys); else rows, as far as is known
};

// Those that are worth trying, for one thread and untuned.
std::vector<SharedPlanSizes> FindSharedPlanSizes(const SolveArguments& arguments,
                                                 const KernelRequest& request);

// Fills in plans for ranges of the sizes, what members take with them, and, of the first, a middle and the
// last member of each region, which `solve` finds plans of their own for, what they lose. False: there are no
// such plans, and nothing is filled in.
absl::StatusOr<bool> SharePlans(const SolveArguments& arguments, const SharedPlanSizes& shared,
                                const Target& target, const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                                FamilySynthesis* synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SHARED_PLANS_H_
