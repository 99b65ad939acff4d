// SPDX-License-Identifier: Apache-2.0
#include "synthesis/shared_packing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "search/families/common_packing.h"
#include "search/families/shared_copy.h"
#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Solves a family of specs whose members share the copy of a constant operand.
class SharedCopySolver {
 public:
  SharedCopySolver(const SolveArguments& arguments, const SpecFamily& family, const Target& target,
                   const std::shared_ptr<Memo>& memo, SearchBudget& budget)
      : arguments_(arguments), family_(family), model_(target), memo_(memo), budget_(budget) {
    // Reports of families don't say what packing costs a member.
    arguments_.pins.price_packing = false;
  }

  absl::StatusOr<FamilySynthesis> Solve(const SolveMembers& solve_members) {
    // Each member with the copy that is best for it.
    KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis each, solve_members(arguments_));
    // The copy that costs the mixture least, and then all members with it.
    effort_ = EffortOf(each);
    KIRSCH_ASSIGN_OR_RETURN(const CommonPacking best, FindCopy(&each.own));
    arguments_.pins.packing = best.packing;
    KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis all, solve_members(arguments_));
    // Losses are against the programs that members had with their own copies.
    all.own = std::move(each.own);
    all.bounds = std::move(each.bounds);
    all.packing =
        SharedPacking{"copy", CopyText(OnlyCopy(best.packing)), PrintMixture(family_.mixture()), best.loss};
    all.before.Add(effort_);
    all.SetLosses();
    return all;
  }

 private:
  // Finds the copy with which the weighted members cost least. Solves members of the mixture that are not in
  // `own` yet, and adds them there.
  absl::StatusOr<CommonPacking> FindCopy(std::vector<std::optional<OwnProgram>>* own) {
    const std::vector<uint32_t> sizes = family_.varying_sizes().front().values;
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<double> weights, WeightsOf(sizes, own));
    std::vector<UserRequest> requests;  // all members': each must be able to make the copy
    std::vector<PackedMember> members;  // those that count
    std::vector<size_t> request_of;
    for (size_t i = 0; i < own->size(); ++i) {
      const ParsedSpec parsed = family_.member(static_cast<int64_t>(i));
      requests.push_back(PlacedRequest(arguments_, parsed, model_.target()));
      if (weights[i] == 0) continue;
      const OwnProgram& best = *(*own)[i];
      members.push_back({weights[i], best.cycles, PackingOf(CopyOf(best.first, requests.back()))});
      request_of.push_back(i);
    }
    arguments_.progress += "one copy for all, ";
    return FindCommonPacking(members, {{kOnlyConstant, CommonCopies(requests, model_.target())}},
                             [&](size_t i, const PlanPacking& packing, double cutoff) {
                               return Price(requests[request_of[i]], OnlyCopy(packing), cutoff);
                             });
  }

  // A copy leaves a problem without the constant: the kernel that reads the copy. That is what is priced.
  absl::StatusOr<double> Price(const UserRequest& request, const MatrixCopy& copy, double cutoff) {
    arguments_.time_budget = budget_.Left();
    const Cost most = cutoff < ToCycles(kInfiniteCost - 1) ? CostFromCycles(cutoff) : kInfiniteCost - 1;
    KIRSCH_ASSIGN_OR_RETURN(
        const SearchResult result,
        SolvePacked(arguments_, *WithCopy(request, copy, model_.target()), model_, *memo_, most));
    if (result.stop == StopReason::kCancelled) budget_.End();
    effort_.Add(result);
    return ToCycles(result.cost);
  }

  // How often each member is asked for: as the mixture says, or large sizes more seldom.
  absl::StatusOr<std::vector<double>> WeightsOf(const std::vector<uint32_t>& sizes,
                                                std::vector<std::optional<OwnProgram>>* own) {
    const std::vector<SizeShare>& mixture = family_.mixture();
    if (mixture.empty()) {
      std::vector<bool> solved;
      for (const std::optional<OwnProgram>& one : *own) solved.push_back(one.has_value());
      return WeightsWithoutMixture(family_.varying_sizes().front(), solved);
    }
    std::vector<double> weights(sizes.size(), 0);
    for (const SizeShare& part : mixture) {
      const auto i = static_cast<size_t>(std::find(sizes.begin(), sizes.end(), part.size) - sizes.begin());
      weights[i] = part.share;
      // A member of the mixture needs a cost of its own, to be compared with.
      if ((*own)[i]) continue;
      KIRSCH_ASSIGN_OR_RETURN(
          const SearchResult solved,
          SolveSpec(arguments_, family_.member(static_cast<int64_t>(i)), model_, *memo_, budget_));
      effort_.Add(solved);
      (*own)[i] = OwnProgram{solved.impl.decision, ToCycles(solved.cost)};
    }
    return weights;
  }

  // The copy for people: "rhs packed16 f32". The operand has the name by which users know it.
  std::string CopyText(const MatrixCopy& copy) const {
    const ParsedSpec member = family_.member(0);
    const int users = SwappedOperand(ConstantOperand(member.spec), member.swapped);
    return Cat(kMatmulInfo.operands[static_cast<size_t>(users)].name, " ", PrintLayout(copy.to), " ",
               Info(copy.dtype).name);
  }

  SolveArguments arguments_;
  SearchEffort effort_;  // before the copy is chosen
  const SpecFamily& family_;
  const CostModel model_;
  const std::shared_ptr<Memo> memo_;
  SearchBudget& budget_;
};

// The sum of 1/n over the sizes from `least` to `most`, of which there may be many.
double OftenAsked(uint32_t least, uint32_t most) {
  if (least == most) return 1.0 / std::max<uint32_t>(1, most);
  return std::log((most + 0.5) / (std::max<uint32_t>(1, least) - 0.5));
}

}  // namespace

std::vector<double> WeightsWithoutMixture(const VaryingSize& size, const std::vector<bool>& solved) {
  const std::vector<uint32_t>& sizes = size.values;
  std::vector<double> weights(sizes.size(), 0);
  std::optional<size_t> before;  // the last solved size so far
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (solved[i]) before = i;
    const auto after = static_cast<size_t>(
        std::find(solved.begin() + static_cast<ptrdiff_t>(i), solved.end(), true) - solved.begin());
    const size_t low = before.value_or(after), high = after == sizes.size() ? low : after;
    KIRSCH_CHECK(low < sizes.size());
    const double often = OftenAsked(size.LeastServed(i), sizes[i]);
    const double share =
        low == high ? 0 : static_cast<double>(sizes[i] - sizes[low]) / (sizes[high] - sizes[low]);
    weights[low] += (1 - share) * often;
    weights[high] += share * often;
  }
  return weights;
}

bool SharesConstants(const KernelRequest& request) {
  if (request.count() == 1) return false;
  const SpecFamily* const specs = request.family.specs();
  return specs != nullptr ? specs->SharesConstant() : request.family.graphs()->member(0).HasConstants();
}

absl::StatusOr<FamilySynthesis> SolveWithSharedPacking(const SolveArguments& arguments,
                                                       const KernelRequest& request, const Target& target,
                                                       const std::shared_ptr<Memo>& memo,
                                                       SearchBudget& budget,
                                                       const SolveMembers& solve_members) {
  if (request.family.graphs() != nullptr)
    return SolveGraphsWithSharedPacking(arguments, request, target, memo, budget, solve_members);
  return SharedCopySolver(arguments, *request.family.specs(), target, memo, budget).Solve(solve_members);
}

std::string SharedPackingText(const FamilySynthesis& synthesis) {
  if (!synthesis.packing) return "";
  const auto& [what, layout, mixture, loss] = *synthesis.packing;
  return absl::StrFormat("packed once: %s; %.2f%% above each size's own %s, for %s\n",
                         layout.empty() ? "nothing" : layout, 100 * loss, what,
                         mixture.empty() ? "calls of size n 1/n as often" : mixture);
}

}  // namespace kirsch
