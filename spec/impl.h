// The program tree: a spec, the decision taken for it, and the programs of the specs it became. Built only
// when an answer is reconstructed, never during the search.
//
// One rule gives every node its meaning: a node's children run in order, child i `trips` times.
// clang-format off
//   kTile          child i runs on `trips` consecutive tiles, each of the child spec's own size along `dim`;
//                  the tiles of all children, in order, cover the dim. (Splitting a reduction: the first child
//                  overwrites, the following ones accumulate.)
//   kParallelTile  likewise; the tiles may run at the same time. The last tile is a child of its own when it
//                  is smaller.
//   kMove          one child, once. Below VRF it stands for data that the caches bring; into VRF (always the
//                  output) it means: load the tile if the spec accumulates, else clear it; run the child;
//                  store.
//   kPack          one child, once, on the copy. The copy is made when the node starts; that of a constant
//                  operand, which the root alone decides on, once, before any run of the program.
//   kMicrokernel   no children: out += lhs * rhs on the register tile (for matmul).
// clang-format on
//
// A program for a range of rows (sizes of the output's dim M) is a tree of the same form. Where the number of
// rows is known at run time only, `least_rows` is the least of them, and the spec has the most:
// clang-format off
//   kTile of M     one child for the whole tiles and, if there may be any, one for the rows that are left; where
//                  these may be as many as a tile has, RowsKept are always left, or all rows if they are fewer
//   kMove to VRF   a register tile, or tiles of them, for each number of rows, the least first
// clang-format on
// and what these are inside of has one number of trips for all.
#ifndef KIRSCH_SPEC_IMPL_H_
#define KIRSCH_SPEC_IMPL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

struct Impl {
  struct Child;

  Spec spec;
  Decision decision;
  std::vector<Child> children;
  uint32_t least_rows = 0;  // 0: the spec's number of rows is the only one
};

struct Impl::Child {
  int64_t trips = 1;
  Impl impl;
};

// Of tiles for a range of rows: so many are left at least.
inline int64_t RowsKept(const Impl& tiles) {
  const Impl &tile = tiles.children.front().impl, &rest = tiles.children.back().impl;
  const int64_t left = tiles.children.size() > 1 ? rest.spec.size[MatmulDims::kM] : 0;
  return std::max<int64_t>(0, left + 1 - tile.spec.size[MatmulDims::kM]);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_IMPL_H_
