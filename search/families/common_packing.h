// SPDX-License-Identifier: Apache-2.0
// One packing of the constant parameters for all members of a family of graphs, which differ in other sizes.
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

// A member that is asked for, as it is best.
struct PackedMember {
  double weight = 1;  // how often, above 0
  double own = 0;     // cycles of its own plan, above 0
  PlanPacking packing = {};
};

// The candidates for how to pack each constant parameter that are to be tried.
using PackingCandidates = std::map<int, std::vector<CopiesOfConstant>>;

// Adds the packings that the plan has, a plain copy, and, of a matrix of which it makes a single copy, all
// that its reader may make instead. None is there twice.
void AddCandidates(const Plan& plan, const Target& target, PackingCandidates* candidates);

// What the cheapest plan of a member costs that packs as `packing` says, and parameters that it lacks as it
// likes, if that is less than the cutoff; else the cutoff or more.
using PricePacking =
    std::function<absl::StatusOr<double>(size_t member, const PlanPacking& packing, double cutoff)>;

struct CommonPacking {
  PlanPacking packing;  // of all constant parameters
  double loss = 0;      // the share of the members' own costs, weighted, that they cost more with it
};

// Of all choices of candidates the one with which the weighted sum of the members' costs is least. Exact:
// parameters are decided one after the other, and what members cost with those that are decided bounds what
// they cost in the end. Members can be computed with some choice. Deterministic.
absl::StatusOr<CommonPacking> FindCommonPacking(absl::Span<const PackedMember> members,
                                                const PackingCandidates& candidates,
                                                const PricePacking& price);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_COMMON_PACKING_H_
