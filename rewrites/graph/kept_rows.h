// SPDX-License-Identifier: Apache-2.0
// Keeps the row programs of one graph. Rewrites write the same operations again for each size of a tile, and
// for each group that the operations are in.
#ifndef KIRSCH_REWRITES_GRAPH_KEPT_ROWS_H_
#define KIRSCH_REWRITES_GRAPH_KEPT_ROWS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/row_fusion.h"

namespace kirsch {

// Not thread-safe. The graph's uses must outlive it.
class KeptRows {
 public:
  class Rows {
   public:
    const FusedRows& fused() const { return fused_; }
    const std::string& error() const { return error_; }  // empty: there is a program
    // MayReplace of the first result and this input.
    bool MayReplaceFirst(size_t input);

   private:
    friend class KeptRows;
    FusedRows fused_;
    std::string error_;
    std::vector<std::optional<bool>> may_replace_;  // by input; nothing: nobody has asked
  };

  explicit KeptRows(const GraphUses& uses) : uses_(uses) {}

  // Returns what FuseRows writes. It stays where it is.
  Rows& Fuse(const std::vector<int>& nodes, const std::vector<int>& wanted, const IterationSpace& space);

 private:
  struct Key {
    std::vector<int> nodes, wanted;
    IterationSpace space;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename Hash>
    friend Hash AbslHashValue(Hash hash, const Key& key) {
      return Hash::combine(std::move(hash), key.nodes, key.wanted, key.space.dims, key.space.columns_begin);
    }
  };

  const GraphUses& uses_;
  absl::node_hash_map<Key, Rows> known_;
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_KEPT_ROWS_H_
