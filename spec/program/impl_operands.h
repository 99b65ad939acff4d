// SPDX-License-Identifier: Apache-2.0
// How the operands of a tree's specs lie, for those who write it as a program. Internal to program/.
#ifndef KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_
#define KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_

#include <cstddef>
#include <cstdint>

#include "spec/check.h"
#include "spec/impl.h"
#include "spec/program/impl_program.h"
#include "spec/storage.h"

namespace kirsch {

inline const TensorSpec& Operand(const Spec& spec, int operand) { return spec.tensor(operand); }

inline const Impl& OnlyChild(const Impl& impl) {
  KIRSCH_CHECK(impl.children.size() == 1 && impl.children[0].trips == 1);
  return impl.children[0].impl;
}

// Steps whose elements a panel has together: in panels of blocks, those of a block.
inline int64_t GroupOf(const Layout& layout, Dtype dtype) {
  return IsInPanels(dtype) ? BlockOf(dtype) : layout.group;
}

// How an operand of the caller's lies.
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

// The elements from one tile of `size` along `dim` to the next; times the program's run-time size, where the
// view's stride along `dim` is that size.
inline int64_t StrideAlong(const Spec& spec, int operand, int dim, const OperandView& view, int64_t size) {
  if (!spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(dim)) return 0;
  if (dim == OuterDim(spec, operand)) {
    KIRSCH_CHECK(size % view.layout.group == 0);
    return view.layout.symbolic_stride ? size : view.layout.OuterOffset(size);
  }
  if (dim != InnerDim(spec, operand)) return size * view.batch_stride;
  KIRSCH_CHECK(view.layout.panel == 0 || size % view.layout.panel == 0);
  return view.layout.InnerOffset(size);
}

// Has each block of the output a part of the operand that is its own?
inline bool HasPartOfEachBlock(const Spec& spec, int operand) {
  return spec.block != 0 && spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(BlockDim(spec));
}

inline int64_t BlockCount(const Spec& spec) {
  const int64_t size = spec.size[static_cast<size_t>(BlockDim(spec))];
  return (size + spec.block - 1) / spec.block;
}

// Do the blocks have the copy that the decision makes in common?
inline bool IsCommonCopy(const Impl& impl) {
  return impl.decision.kind == RewriteKind::kPack && impl.spec.block != 0 && !impl.range.varies() &&
         !HasPartOfEachBlock(impl.spec, impl.decision.operand);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_IMPL_OPERANDS_H_
