#include "search/key_regions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "rewrites/canonical_graph.h"
#include "search/size_regions.h"
#include "search/slice_cost.h"
#include "search/slice_levels.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Compares the canonical graphs of two members.
class KeysOfGraphs {
 public:
  KeysOfGraphs(const Graph& less, const Graph& more) : less_(less), more_(more) {}

  bool DifferOnlyInKeys() const {
    const size_t count = less_.nodes.size();
    if (count != more_.nodes.size() || less_.result != more_.result || Varies(less_.result)) return false;
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      const int node = static_cast<int>(i);
      if (less_.nodes[i].op != more_.nodes[i].op || less_.nodes[i].inputs != more_.nodes[i].inputs)
        return false;
      if (!(less_.at(node).op == Operation::kInput ? IsParameterOfKeys(node) : GoesByKeys(node)))
        return false;
      any |= Varies(node);
    }
    return any;
  }

 private:
  bool Varies(int node) const { return less_.at(node).type.dims != more_.at(node).type.dims; }
  size_t Rank(int node) const { return less_.at(node).type.dims.size(); }

  // Only in the axis that is so many before the last one?
  bool VariesOnlyAt(int node, size_t before_last) const {
    std::vector<uint32_t> dims = less_.at(node).type.dims;
    const std::vector<uint32_t>& others = more_.at(node).type.dims;
    if (dims.size() != others.size() || dims.size() <= before_last) return false;
    const size_t axis = dims.size() - 1 - before_last;
    if (dims[axis] == others[axis]) return false;
    dims[axis] = others[axis];
    return dims == others;
  }

  // Is a key's element in the same place, however many keys there are?
  bool IsParameterOfKeys(int node) const {
    const TensorType &less = less_.at(node).type, &more = more_.at(node).type;
    if (!Varies(node)) return less == more;
    if (!VariesOnlyAt(node, 0) && !VariesOnlyAt(node, 1)) return false;
    const std::vector<int64_t> a = less.Strides(), b = more.Strides();
    for (size_t axis = 0; axis < a.size(); ++axis)
      if (less.dims[axis] > 1 && more.dims[axis] > 1 && a[axis] != b[axis]) return false;
    return !less_.IsConstant(node);
  }

  bool GoesByKeys(int node) const {
    const GraphNode& at = less_.at(node);
    const bool any =
        std::any_of(at.inputs.begin(), at.inputs.end(), [&](int input) { return Varies(input); });
    if (at.op != Operation::kMatmul) return any == Varies(node) && (!any || VariesOnlyAt(node, 0));
    if (!any) return true;
    const int lhs = at.inputs[0], rhs = at.inputs[1];
    if (!Varies(lhs)) return VariesOnlyAt(rhs, 0);
    return Info(less_.at(lhs).op).kind != OperationKind::kLeaf && VariesOnlyAt(lhs, 0) &&
           VariesOnlyAt(rhs, 1);
  }

  const Graph &less_, &more_;
};

// What the plan takes for so many keys.
double CyclesFor(const Plan& plan, int64_t keys) {
  double cycles = plan.cycles;
  for (Group group : plan.groups) {
    cycles -= group.cycles;
    int64_t largest = 0;
    for (const Stage* stage : StagesOf(std::as_const(group))) largest = std::max(largest, stage->keys);
    for (Stage* stage : StagesOf(group)) {
      if (stage->keys == 0) continue;
      const int64_t left = stage->keys == largest ? keys : keys % (2 * stage->keys);
      stage->cycles *= static_cast<double>(left / stage->keys) / static_cast<double>(stage->repeats);
    }
    cycles += SliceCost(1).Of(group);
  }
  return cycles;
}

class KeySolver {
 public:
  KeySolver(absl::Span<const Graph> members, uint32_t least, std::string_view source, const CostModel& model,
            const PlanOptions& options)
      : members_(members), least_(least), source_(source), model_(model), options_(options) {}

  absl::StatusOr<KeyFamily> Find() && {
    family_.cycles.resize(members_.size());
    for (size_t first = 0, end = 0; first < members_.size(); first = end) {
      while (end < members_.size() && HomeAt(end) == HomeAt(first)) ++end;
      if (absl::Status status = FindPart(first, end - 1); !status.ok()) return status;
    }
    return std::move(family_);
  }

 private:
  struct Candidate {
    Plan plan;
    std::vector<double> cycles;  // of the part's members
  };

  Level HomeAt(size_t member) const { return HomeOf(members_[member], options_.residency, model_.target()); }
  int64_t KeysOf(size_t member) const { return least_ + static_cast<int64_t>(member); }

  // Members whose operands wait in the same place.
  absl::Status FindPart(size_t first, size_t last) {
    std::vector<Candidate> candidates;
    for (int64_t keys = KeysOf(last);; keys /= 4) {
      const size_t member =
          static_cast<size_t>(std::max<int64_t>(keys - least_, static_cast<int64_t>(first)));
      absl::StatusOr<Candidate> found = CandidateOf(member, first, last);
      if (!found.ok()) return found.status();
      candidates.push_back(*std::move(found));
      if (member == first) break;
    }
    for (size_t next = first; next <= last; next = family_.regions.back().last + 1)
      AddRegion(candidates, next, first, last);
    return absl::OkStatus();
  }

  // A matrix of one key does not show how keys lie.
  absl::StatusOr<Candidate> CandidateOf(size_t member, size_t first, size_t last) {
    if (KeysOf(member) == 1) ++member;
    PlanOptions options = options_;
    options.other_keys = &members_[member == 0 ? 1 : 0];
    absl::StatusOr<PlanResult> result = SearchPlan(members_[member], source_, model_, options);
    if (!result.ok()) return result.status();
    family_.stats += result->stats;
    Candidate candidate{std::move(result->plan), {}};
    for (size_t i = first; i <= last; ++i) candidate.cycles.push_back(CyclesFor(candidate.plan, KeysOf(i)));
    return candidate;
  }

  // From `next` on: the plan that reaches furthest.
  void AddRegion(const std::vector<Candidate>& candidates, size_t next, size_t first, size_t last) {
    const auto cycles = [&](const Candidate& candidate, size_t i) { return candidate.cycles[i - first]; };
    const auto least = [&](size_t i) {
      double least = std::numeric_limits<double>::infinity();
      for (const Candidate& candidate : candidates) least = std::min(least, cycles(candidate, i));
      return least;
    };
    const Candidate* chosen = nullptr;
    size_t chosen_end = next;
    for (const Candidate& candidate : candidates) {
      size_t end = next;
      while (end <= last && cycles(candidate, end) <= (1 + kMostLoss) * least(end)) ++end;
      if (end <= chosen_end) continue;
      chosen = &candidate;
      chosen_end = end;
    }
    KIRSCH_CHECK(chosen != nullptr);
    KeyRegion region{next, chosen_end - 1, chosen->plan};
    region.plan.graph = CanonicalGraph(members_[region.last]);
    region.plan.keys = KeyRange{NameOfKeys(), KeysOf(next), KeysOf(region.last)};
    for (size_t i = next; i <= region.last; ++i) family_.cycles[i] = cycles(*chosen, i);
    region.plan.cycles = family_.cycles[region.last];
    family_.regions.push_back(std::move(region));
  }

  // That no parameter has.
  std::string NameOfKeys() const {
    std::string name = "n_keys";
    const auto taken = [&](const GraphNode& node) {
      return node.op == Operation::kInput && node.text == name;
    };
    while (std::any_of(members_[0].nodes.begin(), members_[0].nodes.end(), taken)) name += "_";
    return name;
  }

  const absl::Span<const Graph> members_;
  const uint32_t least_;
  const std::string_view source_;
  const CostModel& model_;
  const PlanOptions& options_;
  KeyFamily family_;
};

}  // namespace

bool DifferInKeys(absl::Span<const Graph> members) {
  if (members.size() < 3) return false;  // one key says nothing of how keys lie
  return KeysOfGraphs(CanonicalGraph(members[1]), CanonicalGraph(members.back())).DifferOnlyInKeys();
}

absl::StatusOr<KeyFamily> FindKeyRegions(absl::Span<const Graph> members, uint32_t least,
                                         std::string_view source, const CostModel& model,
                                         const PlanOptions& options) {
  return KeySolver(members, least, source, model, options).Find();
}

}  // namespace kirsch
