// SPDX-License-Identifier: Apache-2.0
// Finds one copy of a constant operand for all members of a family, which differ in sizes that the operand
// lacks. So a caller packs the operand once, and may then call any member.
#ifndef KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_
#define KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/decision.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// A spec as a user asks for it, perhaps with a constant operand. `placed_root` may be the transposed problem:
// then the operand is the other input, and its order is turned.
struct UserRequest {
  Spec placed_root;
  bool swapped = false;
};

// How the copy lies, stated for the untransposed problem, as the bytes are the same for all requests. A
// single number lies alike in either order; it is stated in row order.
struct ConstantCopy {
  Layout layout;  // a decision's
  Dtype dtype = Dtype::kF32;

  friend bool operator==(const ConstantCopy&, const ConstantCopy&) = default;
};

// Returns the copy that a request's program makes, if `pack` is its first decision.
ConstantCopy CopyOf(const Decision& pack, const UserRequest& request);

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
std::optional<PackedRequest> WithCopy(const UserRequest& request, const ConstantCopy& copy,
                                      const Target& target);

// A member, and what it costs by itself.
struct FamilyMember {
  UserRequest request;
  double weight = 0;  // how often it is asked for; 0: it may be
  // With weight: its best program's cost, and the copy that this makes.
  Cost own = kInfiniteCost;
  ConstantCopy own_copy = {};
};

// Returns what the kernel costs if that is less than the cutoff, else the cutoff or more.
using PriceKernel = std::function<absl::StatusOr<Cost>(const PackedRequest& request, Cost cutoff)>;

struct SharedCopy {
  ConstantCopy copy;
  double loss = 0;  // the share of the members' own costs, weighted, that they cost more with this copy
};

// Of all copies that every member may make, returns the one with which the weighted sum of their costs is
// least. Exact, as each copy is tried for as long as it may still be that one. At least one weight must be
// above 0. Deterministic.
absl::StatusOr<SharedCopy> FindSharedCopy(absl::Span<const FamilyMember> members, const Target& target,
                                          const PriceKernel& price);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SHARED_COPY_H_
