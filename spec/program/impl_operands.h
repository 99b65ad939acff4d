// SPDX-License-Identifier: Apache-2.0
// Says how the operands of a tree's specs lie in memory, for those who write the tree as a program. Internal
// to program/.
#ifndef KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_
#define KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_

#include <cstddef>
#include <cstdint>

#include "spec/check.h"
#include "spec/impl.h"
#include "spec/program/impl_program.h"

namespace kirsch {

inline const TensorSpec& Operand(const Spec& spec, int operand) { return spec.tensor(operand); }

// The child of a node that does not divide its spec: a move, or a pack.
inline const Impl& OnlyChild(const Impl& impl) {
  KIRSCH_CHECK(impl.children.size() == 1 && impl.children[0].trips == 1);
  return impl.children[0].impl;
}

// How many steps of the reduction a panel stores together: the layout's group, or, in panels of blocks, the
// steps of a block.
inline int64_t GroupOf(const Layout& layout, Dtype dtype) {
  return IsInPanels(dtype) ? BlockOf(dtype) : layout.group;
}

// The layout of an operand as the caller stores it: strided, or a window view. A spec's packed layout has no
// such form; ImplWriter::ViewAt handles that.
inline MatrixLayout StoredLayout(const Spec& spec, int operand) {
  const Layout& layout = Operand(spec, operand).layout;
  MatrixLayout stored{layout.order, layout.ld, 0, 0, 1, Operand(spec, operand).dtype};
  KIRSCH_CHECK(layout.kind == LayoutKind::kStrided || layout.kind == LayoutKind::kWindow);
  if (layout.kind == LayoutKind::kWindow) {
    stored.window = spec.op_info().window;
  } else if (const DigitAxis* const rows = RowDigits(spec, operand)) {
    stored.window = {operand, {*rows, DigitAxis::Strided(1)}};
  }
  return stored;
}

// The distance in elements from one tile of `size` along `dim` to the next. Where the view's stride along
// `dim` has a symbol, the caller must multiply the result by that. 0 if `dim` does not index the operand.
inline int64_t StrideAlong(const Spec& spec, int operand, int dim, const OperandView& view, int64_t size) {
  if (!spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(dim)) return 0;
  // The outer axis may be in groups, and a tile must not begin within one.
  if (dim == OuterDim(spec, operand)) {
    KIRSCH_CHECK(size % view.layout.group == 0);
    return view.layout.outer_stride.IsConstant() ? view.layout.OuterOffset(size) : size;
  }
  if (dim != InnerDim(spec, operand)) return size * view.batch_stride;
  // Along the inner axis, a tile must not begin within a panel.
  KIRSCH_CHECK(view.layout.panel == 0 || size % view.layout.panel == 0);
  return view.layout.InnerOffset(size);
}

// True if each block of the output reads a part of the operand that is its own. If it is false of a spec in
// blocks, all blocks read the whole operand.
inline bool HasPartOfEachBlock(const Spec& spec, int operand) {
  return spec.block != 0 && spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(BlockDim(spec));
}

// How many blocks the spec's output has; the last one may be partial.
inline int64_t BlockCount(const Spec& spec) {
  const int64_t size = spec.size[static_cast<size_t>(BlockDim(spec))];
  return (size + spec.block - 1) / spec.block;
}

// True if the decision makes a copy that all blocks read whole. It is made once for all, before the blocks.
inline bool IsCommonCopy(const Impl& impl) {
  return impl.decision.kind == RewriteKind::kPack && impl.spec.block != 0 && !impl.range.varies() &&
         !HasPartOfEachBlock(impl.spec, impl.decision.operand);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_
