// SPDX-License-Identifier: Apache-2.0
// Finds one packing of the constant parameters for all members of a family, be they graphs or specs. Members
// have the same constants and differ in other sizes. With one packing, a caller packs once and may then call
// the kernel of any member.
#ifndef KIRSCH_SEARCH_FAMILIES_COMMON_PACKING_H_
#define KIRSCH_SEARCH_FAMILIES_COMMON_PACKING_H_

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "search/graph/plan_packing.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// A member that is asked for, as it is best by itself.
struct PackedMember {
  double weight = 1;  // how often, above 0
  double own = 0;     // cycles of its own plan or program, above 0
  PlanPacking packing = {};
};

// For each constant parameter, the ways to pack it that are tried.
using PackingCandidates = std::map<int, std::vector<CopiesOfConstant>>;

// Adds the packings that the plan has, and a plain copy. If the plan makes a single copy of a matrix, it also
// adds all copies that the reader may make instead. No candidate is there twice.
void AddCandidates(const Plan& plan, const Target& target, PackingCandidates* candidates);

// Returns what a member's cheapest plan costs that packs as `packing` says. Parameters that the packing lacks
// are packed as the plan likes. If that is not less than the cutoff, returns the cutoff or more.
using PricePacking =
    std::function<absl::StatusOr<double>(size_t member, const PlanPacking& packing, double cutoff)>;

struct CommonPacking {
  PlanPacking packing;  // of all constant parameters
  double loss = 0;      // the share of the members' own costs, weighted, that they cost more with it
};

// Finds the choice of candidates with which the weighted sum of the members' costs is least. Members must
// have plans with some choice. Deterministic.
//
// It is exact: parameters are decided one after the other. The costs with some of them decided, and the
// others packed as each member likes, are bounds of the costs in the end.
absl::StatusOr<CommonPacking> FindCommonPacking(absl::Span<const PackedMember> members,
                                                const PackingCandidates& candidates,
                                                const PricePacking& price);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_COMMON_PACKING_H_
