// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/copy_loops.h"

#include <algorithm>
#include <utility>

namespace kirsch {
namespace {

// A part of an axis of a value, as it lies in the memory that the copy reads.
struct AxisPart {
  int64_t size = 1, stride = 0;
};
using PartsOfAxis = std::vector<AxisPart>;

// Joins neighbours, the outermost first, where `follows` says so. Parts of one index are left out.
template <typename Part, typename Follows>
std::vector<Part> Joined(const std::vector<Part>& parts, const Follows& follows) {
  std::vector<Part> joined;
  for (const Part& part : parts) {
    if (part.size == 1) continue;
    if (joined.empty() || !follows(joined.back(), part)) {
      joined.push_back(part);
      continue;
    }
    const int64_t size = joined.back().size * part.size;
    joined.back() = part;
    joined.back().size = size;
  }
  return joined;
}

// The axes of a value that is to be copied, split as far as reshapes asked for it.
class CopiedAxes {
 public:
  explicit CopiedAxes(const TensorType& type) {
    const std::vector<int64_t> strides = type.Strides();
    for (size_t axis = 0; axis < type.dims.size(); ++axis)
      axes_.push_back({{type.dims[axis], strides[axis]}});
  }

  const std::vector<PartsOfAxis>& axes() const { return axes_; }

  // Returns false if there is no copy of that kind, or if parts cannot be split so.
  bool Apply(const GraphNode& node) {
    switch (Info(node.op).kind) {
      case OperationKind::kCast:
        return true;
      case OperationKind::kTranspose:
        std::swap(axes_[axes_.size() - 1], axes_[axes_.size() - 2]);
        return true;
      case OperationKind::kRearrange:
        if (node.op == Operation::kPermute) return Permute(node.axes);
        return node.op == Operation::kReshape ? Reshape(node.type.dims) : Repeat(node.type.dims);
      default:
        return false;
    }
  }

 private:
  bool Permute(const std::vector<uint32_t>& order) {
    std::vector<PartsOfAxis> permuted;
    for (const uint32_t axis : order) permuted.push_back(axes_[axis]);
    axes_ = std::move(permuted);
    return true;
  }

  bool Repeat(const std::vector<uint32_t>& dims) {
    axes_.insert(axes_.begin(), dims.size() - axes_.size(), PartsOfAxis{});
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      int64_t size = 1;
      for (const AxisPart& part : axes_[axis]) size *= part.size;
      if (size != dims[axis]) axes_[axis] = {{dims[axis], 0}};
    }
    return true;
  }

  // Each new axis takes parts from the outermost on, the last of which may have to be split.
  bool Reshape(const std::vector<uint32_t>& dims) {
    PartsOfAxis all;
    for (const PartsOfAxis& parts : axes_) all.insert(all.end(), parts.begin(), parts.end());
    all = Joined(all, [](const AxisPart& a, const AxisPart& b) { return a.stride == b.stride * b.size; });
    axes_.clear();
    auto next = all.begin();
    for (int64_t left : dims) {
      axes_.emplace_back();
      while (left > 1) {
        if (left % next->size == 0) {
          left /= next->size;
          axes_.back().push_back(*next++);
        } else if (next->size % left == 0) {
          next->size /= left;
          axes_.back().push_back({left, next->stride * next->size});
          left = 1;
        } else {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<PartsOfAxis> axes_;
};

}  // namespace

std::optional<std::vector<CopyLoop>> FindCopyLoops(const Graph& graph, const std::vector<int>& nodes) {
  CopiedAxes copied(graph.InputType(graph.at(nodes.front()), 0));
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = graph.at(nodes[i]);
    const bool follows = i == 0 || node.inputs[0] == nodes[i - 1];
    // A cast is a copy only where it changes no element.
    const bool is_cast = Info(node.op).kind == OperationKind::kCast;
    if (!follows || (is_cast && !IsStridedCopy(graph, nodes[i])) || !copied.Apply(node)) return std::nullopt;
  }
  const std::vector<int64_t> strides = graph.at(nodes.back()).type.Strides();
  std::vector<CopyLoop> loops;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    const PartsOfAxis& parts = copied.axes()[axis];
    int64_t inner = strides[axis];
    for (const AxisPart& part : parts) inner *= part.size;
    for (const AxisPart& part : parts) {
      inner /= part.size;
      loops.push_back({part.size, part.stride, inner});
    }
  }
  return Joined(loops, [](const CopyLoop& outer, const CopyLoop& loop) { return outer.Follows(loop); });
}

bool IsStridedCopy(const Graph& graph, int node) {
  if (graph.at(node).op != Operation::kCast) return false;
  const TensorType &from = graph.at(graph.at(node).inputs[0]).type, &to = graph.at(node).type;
  return (from.dtype == to.dtype || !Info(from.dtype).is_result) && !(from.dense() && to.dense());
}

}  // namespace kirsch
