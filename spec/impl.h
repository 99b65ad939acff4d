// SPDX-License-Identifier: Apache-2.0
// Holds the program tree: a spec, the decision taken for it, and the programs of the specs that this makes.
// It is built only when an answer is reconstructed, never during the search.
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
// A program for a range of sizes is a tree of the same form. Where a dim's size is a symbol (program/size.h),
// `range` has the least one, and the spec has the most. So with m = 1..64 and `tile m 6` the tiles of 6 rows
// run as often as there are that many; what is left is one of several register tiles, of 1 to 5 rows, or more
// where MinTail says so. M and N may vary both: then what is for each size of N is itself for a range of M.
// clang-format off
//   kTile of it    one child for the whole tiles and, if there may be any, one for what is left; where that may be
//                  as much as a tile, MinTail is always left, or all there is if that is less
//                  of a reduction, the child for whole tiles is the first one, and so is what is left: whether they add
//                  to what is there follows from how many come before them
//   kMove to VRF   a register tile, or tiles of them, for each size, the least first; of vectors along the dim, one
//                  for so many sizes as the node's vectors have lanes, the last of its own being partial;
//                  of a reduction there is one child
// clang-format on
// All other nodes have the same trips for every size.
#ifndef KIRSCH_SPEC_IMPL_H_
#define KIRSCH_SPEC_IMPL_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

// The sizes that a program is for, where some dims are symbols.
struct DimRanges {
  std::array<uint32_t, kMaxDims> least = {};  // of each dim; 0: the spec's size is the only one
  // Bit i: operand i's rows, or columns, are as far apart as the size of the whole dim that is contiguous
  // (SizeSymbol::kStride).
  uint8_t symbolic_strides = 0;

  bool varies(size_t dim) const { return least[dim] != 0; }
  bool varies() const {
    return std::ranges::any_of(least, [](uint32_t size) { return size != 0; });
  }
  bool HasSymbolicStride(int operand) const { return (symbolic_strides >> operand & 1) != 0; }
};

// A node of the tree, which owns the nodes below it.
struct Impl {
  struct Child;

  Spec spec;
  Decision decision;
  std::vector<Child> children;
  DimRanges range = {};
};

struct Impl::Child {
  int64_t trips = 1;
  Impl impl;
};

// How much a tiling for a range of sizes leaves behind its whole tiles, at least.
inline int64_t MinTail(const Impl& tiles) {
  const size_t dim = tiles.decision.dim;
  const Impl &tile = tiles.children.front().impl, &rest = tiles.children.back().impl;
  const int64_t left = tiles.children.size() > 1 ? rest.spec.size[dim] : 0;
  return std::max<int64_t>(0, left + 1 - tile.spec.size[dim]);
}

// How many sizes a register tile for any size of a dim serves: the last vector along the dim may have any
// number of elements.
inline int64_t SizesOfTile(const Layout& registers, size_t dim) {
  return IsOfVectors(registers.kind) && dim == MatmulDims::kN ? registers.panel : 1;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_IMPL_H_
