// SPDX-License-Identifier: Apache-2.0
#include "search/families/key_regions.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/online_attention.h"
#include "search/families/key_count_schedule.h"

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

// Plans for all keys at once, or for blocks and what they leave at once; where these serve a member not,
// plans for blocks and for halves of what they leave.
class KeyFinder : public RuleFinder {
 public:
  explicit KeyFinder(const PlanMembers& members) : members_(members) {}

  absl::StatusOr<Rules> Find(size_t member, double cutoff) override {
    return Search(member, KeyUse::kAtOnce, cutoff);
  }
  absl::StatusOr<Rules> FindOthers(size_t member) override {
    return Search(member, KeyUse::kBlocks, std::numeric_limits<double>::infinity());
  }
  // Of such a number all blocks leave nearly a block.
  int64_t Representative(int64_t keys) const override {
    const int64_t block = LargestKeyBlock(members_.model.target());
    return keys < block ? keys : (keys + 1) / block * block - 1;
  }

 private:
  // A matrix of one key does not show how keys lie.
  absl::StatusOr<Rules> Search(size_t member, KeyUse keys, double cutoff) {
    if (members_.SizeOf(member) == 1) ++member;
    PlanOptions options = members_.options;
    options.other_keys = &members_.graphs[member == 0 ? 1 : 0];
    options.keys = keys;
    options.cutoff = cutoff;
    absl::StatusOr<OrNoPlan<PlanResult>> answer = members_.Search(member, options);
    if (!answer.ok()) return answer.status();
    auto* const result = std::get_if<PlanResult>(&*answer);
    if (result == nullptr || result->plan.nests.empty()) return Rules();
    const auto rule = std::make_shared<KeyCountSchedule>(result->plan, members_.model);
    Rules rules = {rule};
    if (rule->LeavesColumns())
      rules.push_back(std::make_shared<KeyCountSchedule>(std::move(result->plan), members_.model,
                                                         SymbolicScheduleOptions{.own_rest = true}));
    return rules;
  }

  const PlanMembers& members_;
};

}  // namespace

bool DifferInKeys(absl::Span<const Graph> members) {
  if (members.size() < 3) return false;  // one key says nothing of how keys lie
  return KeysOfGraphs(CanonicalGraph(members[1]), CanonicalGraph(members.back())).DifferOnlyInKeys();
}

absl::StatusOr<std::optional<PlanFamily>> FindKeyRegions(const PlanMembers& members) {
  KeyFinder finder(members);
  return FindPlanRegions(members, "n_keys", finder);
}

}  // namespace kirsch
