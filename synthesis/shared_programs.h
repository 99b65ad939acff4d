// SPDX-License-Identifier: Apache-2.0
// Lets the members of a family of matmuls share programs, which take one or two sizes, as shared_plans.h does
// for graphs.
#ifndef KIRSCH_SYNTHESIS_SHARED_PROGRAMS_H_
#define KIRSCH_SYNTHESIS_SHARED_PROGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "synthesis/family.h"
#include "synthesis/solve.h"

namespace kirsch {

// The sizes, by number, that programs of a matmul may take: rows and columns; or, as dims of the spec, rows
// and the reduction; or one of these. Empty: members can't share programs. So it is of graphs, of kernels
// that are tuned, and of matmuls with a batch, a window, or blocks of rows.
std::vector<size_t> FindSharedSizes(const SolveArguments& arguments, const KernelRequest& request);

// The program of a member, if it costs less than the cutoff; else StopReason::kCutoff.
using SolveOneSpec = std::function<absl::StatusOr<SearchResult>(int64_t member, Cost cutoff)>;

// Fills in members, regions and their programs. `sizes`: those of FindSharedSizes, not empty. Sizes that
// programs don't take make separate problems. Errors are those of `solve`, or InvalidArgument: what is
// sampled can't be shared.
absl::Status SharePrograms(const SolveArguments& arguments, const std::vector<size_t>& sizes,
                           const CostModel& model, const std::shared_ptr<Memo>& memo,
                           const SolveOneSpec& solve, FamilySynthesis* synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SHARED_PROGRAMS_H_
