// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/loops_storage.h"

#include <algorithm>
#include <map>

#include "spec/program/memory.h"

namespace kirsch {
namespace {

// True if each element depends on the same element of the operands alone.
bool IsPointwise(const GraphNode& node) {
  const OperationKind kind = Info(node.op).kind;
  return kind == OperationKind::kElementwise || kind == OperationKind::kCast;
}

// A piece of scratch memory, and whether a value is in it at present.
struct ScratchPiece {
  size_t offset, bytes;
  bool free;
};

// Goes through the graph once, and frees a value's memory behind its last use.
class StoragePlanner {
 public:
  StoragePlanner(const Graph& graph, size_t float_bytes) : graph_(graph), float_bytes_(float_bytes) {
    const size_t count = graph.nodes.size();
    storage_.inlined.resize(count);
    storage_.offset.assign(count, -1);
    last_use_.assign(count, -1);
    block_.assign(count, 0);
  }

  // Inlining comes first, since it decides which values there are; then their last uses; then their places.
  LoopsStorage Plan() {
    FindInlined();
    const int count = static_cast<int>(graph_.nodes.size());
    for (int node = 0; node < count; ++node)
      for (const auto& [base, straight] : ReadsOf(node)) last_use_[static_cast<size_t>(base)] = node;
    for (int node = 0; node < count; ++node)
      if (HasLoops(node)) Place(node);
    return std::move(storage_);
  }

 private:
  bool HasLoops(int node) const { return kirsch::HasLoops(graph_, storage_, node); }

  // A pointwise value with one user of the same shape is computed within the user's loops. With more users it
  // would be computed more than once.
  void FindInlined() {
    std::vector<std::vector<int>> users(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      for (int input : graph_.nodes[i].inputs)
        users[static_cast<size_t>(input)].push_back(static_cast<int>(i));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (!IsPointwise(node) || users[i].size() != 1 || graph_.IsResult(static_cast<int>(i))) continue;
      const GraphNode& user = graph_.at(users[i].front());
      storage_.inlined[i] = IsPointwise(user) && user.type.dims == node.type.dims;
    }
  }

  // Returns the values in memory that the loops of `node` read. True: each element is read only where the
  // same element of the result is written, so the result may take its place.
  std::map<int, bool> ReadsOf(int node) const {
    std::map<int, bool> reads;
    if (HasLoops(node) || graph_.IsResult(node)) AddReads(graph_.at(node), graph_.at(node), true, reads);
    return reads;
  }

  // Follows inlined operands and views down to values in memory. Through a transpose elements are at other
  // places.
  void AddReads(const GraphNode& of, const GraphNode& node, bool straight, std::map<int, bool>& reads) const {
    for (int input : node.inputs) {
      const GraphNode& from = graph_.at(input);
      const bool same =
          straight && from.type.dims == of.type.dims && Info(of.op).kind != OperationKind::kContraction &&
          Info(of.op).kind != OperationKind::kAlongAxis && Info(of.op).kind != OperationKind::kRearrange;
      if (HasLoops(input)) {
        const auto [at, added] = reads.try_emplace(input, same);
        at->second &= same;
      } else {
        AddReads(of, from, same && Info(from.op).kind != OperationKind::kTranspose, reads);
      }
    }
  }

  // Whole lines, so that every value is aligned.
  size_t BytesOfValue(int node) const {
    const TensorType& type = graph_.at(node).type;
    const size_t each = type.dtype == Dtype::kF32 ? float_bytes_ : static_cast<size_t>(Bytes(type.dtype));
    return static_cast<size_t>(WholeLines(type.elements() * static_cast<int64_t>(each)));
  }

  void Place(int node) {
    const size_t at = static_cast<size_t>(node);
    std::map<int, bool> reads = ReadsOf(node);
    // Results are not in scratch memory.
    std::erase_if(reads, [&](const auto& read) { return graph_.IsResult(read.first); });
    // Memory of a value that is read for the last time is free already for the result, if it may be written
    // in place.
    for (const auto& [base, straight] : reads)
      if (straight && last_use_[static_cast<size_t>(base)] == node &&
          BytesOfValue(base) == BytesOfValue(node))
        blocks_[block_[static_cast<size_t>(base)]].free = true;
    if (!graph_.IsResult(node)) Take(at, BytesOfValue(node));
    for (const auto& [base, straight] : reads) {
      const size_t block = block_[static_cast<size_t>(base)];
      // A value that is read for the last time frees its memory, unless the result has just taken its place.
      const bool taken = !graph_.IsResult(node) && block == block_[at];
      if (last_use_[static_cast<size_t>(base)] == node && !taken) blocks_[block].free = true;
    }
  }

  // Gives the node the smallest free piece that is large enough, or a new one.
  void Take(size_t node, size_t bytes) {
    size_t best = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].free && blocks_[i].bytes >= bytes &&
          (best == blocks_.size() || blocks_[i].bytes < blocks_[best].bytes))
        best = i;
    if (best == blocks_.size()) {
      blocks_.push_back({storage_.bytes, bytes, true});
      storage_.bytes += bytes;
    }
    blocks_[best].free = false;
    block_[node] = best;
    storage_.offset[node] = static_cast<int64_t>(blocks_[best].offset);
  }

  const Graph& graph_;
  const size_t float_bytes_;
  std::vector<int> last_use_;
  std::vector<size_t> block_;  // of each node that has one
  std::vector<ScratchPiece> blocks_;
  LoopsStorage storage_;
};

}  // namespace

bool HasLoops(const Graph& graph, const LoopsStorage& storage, int node) {
  const OperationKind kind = Info(graph.at(node).op).kind;
  return kind != OperationKind::kLeaf && kind != OperationKind::kTranspose &&
         !storage.inlined[static_cast<size_t>(node)];
}

LoopsStorage PlanStorage(const Graph& graph, size_t float_bytes) {
  return StoragePlanner(graph, float_bytes).Plan();
}

}  // namespace kirsch
