// SPDX-License-Identifier: Apache-2.0
#include "search/families/differ_in_keys.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "rewrites/graph/canonical_graph.h"

namespace kirsch {
namespace {

// Compares the canonical graphs of two members.
class KeysOfGraphs {
 public:
  KeysOfGraphs(const Graph& less, const Graph& more) : less_(less), more_(more) {}

  // Compares the graphs node by node. Operations and inputs must be equal, no result may vary, and
  // something must.
  bool DifferOnlyInKeys() const {
    const size_t count = less_.nodes.size();
    if (count != more_.nodes.size() || less_.results.size() != more_.results.size()) return false;
    for (size_t i = 0; i < less_.results.size(); ++i)
      if (less_.results[i].value != more_.results[i].value || Varies(less_.results[i].value)) return false;
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

  // True if the types of a node differ only in the axis that is so many before the last one.
  bool VariesOnlyAt(int node, size_t before_last) const {
    std::vector<uint32_t> dims = less_.at(node).type.dims;
    const std::vector<uint32_t>& others = more_.at(node).type.dims;
    if (dims.size() != others.size() || dims.size() <= before_last) return false;
    const size_t axis = dims.size() - 1 - before_last;
    if (dims[axis] == others[axis]) return false;
    dims[axis] = others[axis];
    return dims == others;
  }

  // True if each key's elements are in the same place, however many keys there are. Example: keys as rows of
  // a cache, K[keys, d], lie alike if the distance of rows is fixed. An axis of size 1 has no distance that
  // could differ.
  bool IsParameterOfKeys(int node) const {
    const TensorType &less = less_.at(node).type, &more = more_.at(node).type;
    if (!Varies(node)) return less == more;
    if (!VariesOnlyAt(node, 0) && !VariesOnlyAt(node, 1)) return false;
    const std::vector<int64_t> a = less.Strides(), b = more.Strides();
    for (size_t axis = 0; axis < a.size(); ++axis)
      if (less.dims[axis] > 1 && more.dims[axis] > 1 && a[axis] != b[axis]) return false;
    return !less_.IsConstant(node);
  }

  // Keys may be the last axis of what operations make: scores have a column for each key. Sums over them are
  // those of rows that are computed, and those of a matmul: a computed lhs, such as the weights of a softmax,
  // by an rhs with a row for each key. The largest of a row is no different from its sum. Means and norms
  // divide by the number of keys, which row programs have as a constant.
  bool GoesByKeys(int node) const {
    const GraphNode& at = less_.at(node);
    const bool any =
        std::any_of(at.inputs.begin(), at.inputs.end(), [&](int input) { return Varies(input); });
    if (any && !Varies(node) && (at.op == Operation::kReduceSum || at.op == Operation::kReduceMax))
      return IsComputed(at.inputs[0]) && VariesOnlyAt(at.inputs[0], 0);
    if (Info(at.op).kind == OperationKind::kRowwise && at.op != Operation::kSoftmax && any) return false;
    if (at.op != Operation::kMatmul) return any == Varies(node) && (!any || VariesOnlyAt(node, 0));
    if (!any) return true;
    const int lhs = at.inputs[0], rhs = at.inputs[1];
    if (!Varies(lhs)) return VariesOnlyAt(rhs, 0);
    return IsComputed(lhs) && VariesOnlyAt(lhs, 0) && VariesOnlyAt(rhs, 1);
  }
  bool IsComputed(int node) const { return Info(less_.at(node).op).kind != OperationKind::kLeaf; }

  const Graph &less_, &more_;
};

}  // namespace

bool DifferInKeys(absl::Span<const Graph> members) {
  if (members.size() < 3) return false;  // one key says nothing of how keys lie
  return KeysOfGraphs(CanonicalGraph(members[1]), CanonicalGraph(members.back())).DifferOnlyInKeys();
}

}  // namespace kirsch
