// SPDX-License-Identifier: Apache-2.0
// Says how specs copy a constant operand, so that all members of a family may make the same copy: they differ
// in sizes that the operand lacks. Which copy is best, common_packing.h finds.
#ifndef KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_
#define KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_

#include <optional>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "memo/memo.h"
#include "search/graph/plan_packing.h"
#include "spec/decision.h"
#include "spec/impl.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// A spec as a user asks for it, perhaps with a constant operand. `placed_root` may be the transposed problem:
// then the operand is the other input, and its order is turned.
struct UserRequest {
  Spec placed_root;
  bool swapped = false;
};

// Returns the copy that a request's program makes, if `pack` is its first decision. Only how it lies and its
// type are set, stated for the untransposed problem, as the bytes are the same for all requests. A single
// number lies alike in either order; it is stated in row order.
MatrixCopy CopyOf(const Decision& pack, const UserRequest& request);

// The rest of a request, once its operand is taken in such a copy.
struct PackedRequest {
  Spec placed_root;
  Decision pack;
  Spec kernel;          // what is computed with the copy, ...
  Lines available = 0;  // ... filling so many lines at most

  // The request's program, given the kernel's.
  Impl Program(Impl of_kernel) const;
};

// Returns the rest of a request with this copy. Nothing: the request's space has no such copy, or there is no
// room for it.
std::optional<PackedRequest> WithCopy(const UserRequest& request, const MatrixCopy& copy,
                                      const Target& target);

// Returns the copies that all of these requests may make: the candidates of FindCommonPacking for the only
// constant, which is number kOnlyConstant.
std::vector<CopiesOfConstant> CommonCopies(absl::Span<const UserRequest> requests, const Target& target);
inline constexpr int kOnlyConstant = 0;

// The packing that is this copy alone, and the reverse.
inline PlanPacking PackingOf(const MatrixCopy& copy) { return {{kOnlyConstant, {copy}}}; }
inline const MatrixCopy& OnlyCopy(const PlanPacking& packing) {
  return std::get<MatrixCopy>(*packing.at(kOnlyConstant).begin());
}

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_
