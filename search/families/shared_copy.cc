// SPDX-License-Identifier: Apache-2.0
#include "search/families/shared_copy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// All first decisions of a root with a constant operand are packs, as it is prepacked before anything else.
std::vector<Decision> FindPacks(const UserRequest& request, const Target& target) {
  KIRSCH_CHECK(ConstantOperand(request.placed_root) >= 0);
  std::vector<Decision> packs;
  EnumerateDecisions(request.placed_root, target, &packs);
  return packs;
}

// Lists the copies that every member may make. First come the copies that the members' own programs have, by
// the cost of these members: a copy that many want is soon found to be better than the others. The rest is in
// the order of decisions.
std::vector<ConstantCopy> CommonCopies(absl::Span<const FamilyMember> members, const Target& target) {
  const UserRequest& first = members.front().request;
  std::vector<ConstantCopy> copies;
  for (const Decision& pack : FindPacks(first, target)) copies.push_back(CopyOf(pack, first));
  std::erase_if(copies, [&](const ConstantCopy& copy) {
    return !std::all_of(members.begin(), members.end(), [&](const FamilyMember& member) {
      return WithCopy(member.request, copy, target).has_value();
    });
  });
  const auto wanted = [&](const ConstantCopy& copy) {
    double sum = 0;
    for (const FamilyMember& member : members)
      if (member.weight > 0 && member.own_copy == copy)
        sum += member.weight * static_cast<double>(member.own);
    return sum;
  };
  std::stable_sort(copies.begin(), copies.end(),
                   [&](const ConstantCopy& a, const ConstantCopy& b) { return wanted(a) > wanted(b); });
  return copies;
}

// The least cost that is too much for a member, if all members together may cost `slack` more than their own
// programs.
Cost CutoffOf(const FamilyMember& member, double slack) {
  const double cutoff = static_cast<double>(member.own) + std::ceil(slack / member.weight);
  const Cost most = kInfiniteCost - 1;
  return cutoff < static_cast<double>(most) ? static_cast<Cost>(cutoff) : most;
}

}  // namespace

ConstantCopy CopyOf(const Decision& pack, const UserRequest& request) {
  ConstantCopy copy{pack.layout, pack.dtype};
  const TileExtent matrix = ExtentOf(request.placed_root, pack.operand);
  if (matrix.outer == 1 && matrix.inner == 1)
    copy.layout.order = Order::kRow;
  else if (request.swapped)
    copy.layout.order = copy.layout.order == Order::kRow ? Order::kCol : Order::kRow;
  return copy;
}

Impl PackedRequest::Program(Impl of_kernel) const { return {placed_root, pack, {{1, std::move(of_kernel)}}}; }

std::optional<PackedRequest> WithCopy(const UserRequest& request, const ConstantCopy& copy,
                                      const Target& target) {
  const Spec& root = request.placed_root;
  for (const Decision& pack : FindPacks(request, target)) {
    if (CopyOf(pack, request) != copy) continue;
    Expansion expansion;
    Expand(root, pack, target, &expansion);
    // The copy takes its operand's place, so the kernel is a spec with the lines that are left below the
    // pack.
    const Lines available = AvailableBelow(root, expansion, AvailableAtPlacement(root, target), target);
    if (available < 0) return std::nullopt;
    return PackedRequest{root, pack, expansion.children[0].spec, available};
  }
  return std::nullopt;
}

// Members cost at least what their own programs do. All members together lose a certain sum by the best copy
// so far. Another copy is out as soon as the members priced so far have lost that much.
//
// Example: the best copy so far loses 300 cycles in all. If another loses 200 by the first member, of weight
// 1, then a second member of weight 2 must lose less than 50.
absl::StatusOr<SharedCopy> FindSharedCopy(absl::Span<const FamilyMember> members, const Target& target,
                                          const PriceKernel& price) {
  double own = 0;
  for (const FamilyMember& member : members)
    if (member.weight > 0) own += member.weight * static_cast<double>(member.own);
  KIRSCH_CHECK(own > 0);
  std::optional<ConstantCopy> best;
  double least = std::numeric_limits<double>::infinity();
  for (const ConstantCopy& copy : CommonCopies(members, target)) {
    double more = 0;
    for (const FamilyMember& member : members) {
      if (member.weight == 0) continue;
      const Cost cutoff = CutoffOf(member, least - more);
      const absl::StatusOr<Cost> cost = price(*WithCopy(member.request, copy, target), cutoff);
      if (!cost.ok()) return cost.status();
      more += *cost < cutoff ? member.weight * static_cast<double>(*cost - member.own)
                             : std::numeric_limits<double>::infinity();
      if (more >= least) break;
    }
    if (more >= least) continue;
    least = more;
    best = copy;
  }
  KIRSCH_CHECK(best.has_value());
  return SharedCopy{*best, least / own};
}

}  // namespace kirsch
