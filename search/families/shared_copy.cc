// SPDX-License-Identifier: Apache-2.0
#include "search/families/shared_copy.h"

#include <algorithm>
#include <utility>

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

}  // namespace

MatrixCopy CopyOf(const Decision& pack, const UserRequest& request) {
  MatrixCopy copy;
  copy.to = pack.layout;
  copy.dtype = pack.dtype;
  const TileExtent matrix = ExtentOf(request.placed_root, pack.operand);
  if (matrix.outer == 1 && matrix.inner == 1)
    copy.to.order = Order::kRow;
  else if (request.swapped)
    copy.to.order = Turned(copy.to.order);
  return copy;
}

Impl PackedRequest::Program(Impl of_kernel) const { return {placed_root, pack, {{1, std::move(of_kernel)}}}; }

std::optional<PackedRequest> WithCopy(const UserRequest& request, const MatrixCopy& copy,
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

std::vector<CopiesOfConstant> CommonCopies(absl::Span<const UserRequest> requests, const Target& target) {
  std::vector<CopiesOfConstant> copies;
  for (const Decision& pack : FindPacks(requests.front(), target)) {
    const MatrixCopy copy = CopyOf(pack, requests.front());
    const bool common = std::all_of(requests.begin(), requests.end(), [&](const UserRequest& request) {
      return WithCopy(request, copy, target).has_value();
    });
    if (common) copies.push_back({copy});
  }
  return copies;
}

}  // namespace kirsch
