// SPDX-License-Identifier: Apache-2.0
#include "search/families/common_packing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "cost/cost.h"
#include "rewrites/spec/rewrite.h"
#include "spec/check.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

void AddCandidate(CopiesOfConstant copies, std::vector<CopiesOfConstant>* list) {
  if (std::find(list->begin(), list->end(), copies) == list->end()) list->push_back(std::move(copies));
}

// A depth-first search over the parameters, with the least sum so far as the limit.
class PackingSearch {
 public:
  PackingSearch(absl::Span<const PackedMember> members, const PackingCandidates& candidates,
                const PricePacking& price)
      : members_(members), candidates_(candidates), price_(price), order_(members.size()) {
    // Members that count most come first, as they refute most.
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return members[a].weight * members[a].own > members[b].weight * members[b].own;
    });
    // A parameter with a single candidate that all members have anyway need not be decided.
    for (auto& [constant, copies] : candidates_)
      if (copies.size() == 1 && AllHave(constant, copies.front()))
        packing_[constant] = copies.front();
      else
        open_.push_back(constant);
    for (const int constant : open_) MostWantedFirst(constant, &candidates_.at(constant));
  }

  absl::StatusOr<CommonPacking> Find() && {
    KIRSCH_RETURN_IF_ERROR(Decide(0, std::vector<double>(members_.size())));
    KIRSCH_CHECK(best_.has_value());
    double own = 0;
    for (const PackedMember& member : members_) own += member.weight * member.own;
    return CommonPacking{*std::move(best_), least_ / own};
  }

 private:
  bool AllHave(int constant, const CopiesOfConstant& copies) const {
    return std::all_of(members_.begin(), members_.end(), [&](const PackedMember& member) {
      const auto own = member.packing.find(constant);
      return own == member.packing.end() || own->second == copies;
    });
  }

  // Sorts candidates by the cost of the members whose own plans have them. A candidate that many want is soon
  // found to be better than one that few want, and a good first sum cuts off more.
  void MostWantedFirst(int constant, std::vector<CopiesOfConstant>* copies) const {
    const auto wanted = [&](const CopiesOfConstant& copies) {
      double sum = 0;
      for (const PackedMember& member : members_)
        if (const auto own = member.packing.find(constant);
            own != member.packing.end() && own->second == copies)
          sum += member.weight * member.own;
      return sum;
    };
    std::stable_sort(
        copies->begin(), copies->end(),
        [&](const CopiesOfConstant& a, const CopiesOfConstant& b) { return wanted(a) > wanted(b); });
  }

  // Tries the candidates of the parameter at `place` of open_, and of all after it. `more`: what each member
  // costs beyond its own plan, with what is decided so far.
  absl::Status Decide(size_t place, const std::vector<double>& more) {
    if (place == open_.size()) {
      least_ = SumOf(more);
      best_ = packing_;
      return absl::OkStatus();
    }
    for (const CopiesOfConstant& copies : candidates_.at(open_[place])) {
      if (least_ <= SumOf(more)) break;
      packing_[open_[place]] = copies;
      std::vector<double> with_copies = more;
      KIRSCH_ASSIGN_OR_RETURN(const bool less, Price(&with_copies));
      if (!less) continue;
      KIRSCH_RETURN_IF_ERROR(Decide(place + 1, with_copies));
    }
    packing_.erase(open_[place]);
    return absl::OkStatus();
  }

  double SumOf(const std::vector<double>& more) const {
    double sum = 0;
    for (size_t i = 0; i < more.size(); ++i) sum += members_[i].weight * more[i];
    return sum;
  }

  // Finds what each member costs beyond its own plan with what is decided. `more`: what it costs at least,
  // since it is what it costs with fewer parameters decided. Returns false as soon as all together cost the
  // least sum or more.
  absl::StatusOr<bool> Price(std::vector<double>* more) const {
    for (const size_t i : order_) {
      const PackedMember& member = members_[i];
      if (PacksSo(member)) continue;
      // The most that this member may cost if the sum is to stay below the least one.
      const double others = SumOf(*more) - member.weight * (*more)[i];
      const double cutoff = member.own + (least_ - others) / member.weight;
      KIRSCH_ASSIGN_OR_RETURN(const double cost, price_(i, packing_, cutoff));
      if (cost >= cutoff) return false;
      (*more)[i] = std::max((*more)[i], cost - member.own);
    }
    return SumOf(*more) < least_;
  }

  // True if the member's own plan makes no other copies than those decided. Then it costs no more, and need
  // not be priced.
  bool PacksSo(const PackedMember& member) const {
    return std::all_of(packing_.begin(), packing_.end(), [&](const auto& decided) {
      const auto own = member.packing.find(decided.first);
      return own == member.packing.end() || std::includes(decided.second.begin(), decided.second.end(),
                                                          own->second.begin(), own->second.end());
    });
  }

  const absl::Span<const PackedMember> members_;
  PackingCandidates candidates_;
  const PricePacking& price_;
  std::vector<size_t> order_;
  std::vector<int> open_;  // the parameters to decide
  PlanPacking packing_;
  std::optional<PlanPacking> best_;
  double least_ = kInfiniteCycles;
};

}  // namespace

void AddCandidates(const Plan& plan, const Target& target, PackingCandidates* candidates) {
  for (const auto& [constant, copies] : FindPacking(plan)) {
    std::vector<CopiesOfConstant>& list = (*candidates)[constant];
    AddCandidate(copies, &list);
    AddCandidate({PlainCopy{}}, &list);  // which all members can do with
    // The alternatives below are for a constant of which the plan makes a single copy.
    if (copies.size() != 1) continue;
    for (const Stage& prepack : plan.prepacks) {
      if (prepack.kind != StageKind::kPack || prepack.operands[0].value != constant) continue;
      std::vector<Decision> packs;
      EnumerateDecisions(prepack.spec, target, &packs);
      for (const Decision& pack : packs) AddCandidate({CopyMadeBy(prepack, pack, target)}, &list);
    }
  }
}

absl::StatusOr<CommonPacking> FindCommonPacking(absl::Span<const PackedMember> members,
                                                const PackingCandidates& candidates,
                                                const PricePacking& price) {
  return PackingSearch(members, candidates, price).Find();
}

}  // namespace kirsch
