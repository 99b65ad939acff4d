// SPDX-License-Identifier: Apache-2.0
// Defines the leaves of a program: what each kind of kernel computes, and where the elements of its operands
// lie from the first one on. A shape is plain data. The interpreter follows it; the code generator emits one
// procedure for it.
//
// A size with a symbol is known only when the kernel runs. ForValues replaces it by its value.
#ifndef KIRSCH_SPEC_PROGRAM_KERNEL_SHAPE_H_
#define KIRSCH_SPEC_PROGRAM_KERNEL_SHAPE_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "spec/decision.h"
#include "spec/dtype.h"
#include "spec/epilogue.h"
#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"
#include "spec/microkernel.h"
#include "spec/program/matrix_layout.h"
#include "spec/program/size.h"
#include "spec/sum_blocks.h"
#include "spec/window.h"
#include "spec/winograd.h"

namespace kirsch {

// Where the elements of an epilogue's operand lie, counted from the one for the tile's first element.
struct EpilogueArgument {
  Dtype dtype = Dtype::kF32;
  int64_t row_stride = 0;  // 0: the same for all rows
  bool columns = false;    // one for each column, contiguous; else the same for all

  friend bool operator==(const EpilogueArgument&, const EpilogueArgument&) = default;
};

// A register tile: out[m][n] (+)= sum over k of lhs[m][k] * rhs[k][n], in vector registers, and then the
// epilogue. For a depthwise convolution (kLanewise), lhs[m][k] is a vector along n. The operands are lhs,
// rhs, out, those of the epilogue, and what is asked for. The length of the reduction is no part of the
// shape: KernelRun::count says it.
struct TileShape {
  RegisterTile tile;
  int64_t m = 0;  // of out
  Size n = 0;     // of out: a constant, or whole vectors and kLast columns
  MatrixLayout lhs, rhs, out;
  Size accumulate = 0;  // 0, 1 or kAdds
  Epilogue epilogue;
  std::vector<EpilogueArgument> arguments;
  bool prefetch_out = false;  // the output tile is not in L1 when the kernel starts
  Decision microkernel = {};  // as it was decided
  // Used if `microkernel` decides nothing on prefetches: the kernel prefetches the elements of rhs that are
  // so many columns further. 0: none.
  int64_t next_tile = 0;
  // For columns without gaps between them: they are prefetched in the order in which they lie in memory, as
  // many bytes as are read in the meantime. The prefetch goes to L2 only, as the room in L1 is lhs's.
  bool prefetches_in_order = false;
  bool prefetches_into_l2 = false;  // L1 is full of the tile that is read
  // Lines of each row of another matrix that is asked for meanwhile, a row with each step of the reduction;
  // they come to L2. 0: there is none. It is the operand behind those of the epilogue, and is not read, so it
  // may lie behind the end of its buffer.
  int64_t asked_lines = 0;
  MatrixLayout asked = {};
  DigitAxis reduction = {};  // of a window: how it is indexed by the steps of the reduction
  int sum_levels = 0;        // of sums in blocks: see SumLevels (spec/sum_blocks.h)
  Size k_tail = 0;           // what is left of the reduction: k mod step(), or kTail

  // How many steps of the reduction, or how many columns, ahead the kernel prefetches elements of rhs. One of
  // the two is 0.
  int64_t prefetch_k() const { return microkernel.dim == MatmulDims::kK ? microkernel.size : 0; }
  int64_t prefetch_n() const {
    return microkernel.size == 0 || microkernel.dim == MatmulDims::kK ? next_tile : microkernel.size;
  }

  // Steps of the reduction that one instruction takes in.
  int64_t step() const { return tile.step(); }
  // The most steps of the reduction that a block of the sum takes in (spec/sum_blocks.h).
  int64_t block_steps() const { return kSumBlock * (tile.step() / tile.group()); }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// Copies a matrix into another layout or a wider type. The operands are from, to.
struct PackShape {
  // Of the copy's stored matrix. One of the two may be kCount: `inner` only if rows keep their order. Or
  // `inner` is whole vectors and kLast elements: then `to` has panels, `from` the same order.
  Size outer = 0, inner = 0;
  // `from` has no panels, unless they are of blocks, and those of `to` are as wide. If the orders differ, the
  // copy transposes; if the type of `to` is wider, it widens. If rows are not a whole number of vectors
  // apart, they are written one after the other, and each write may go beyond the row's end by less than a
  // vector. The last panel and the last group are filled up with zeros. Other padding is undefined.
  MatrixLayout from, to;
  int64_t inner_stride = 1;  // of `from`: elements between neighbours; not 1: the copy keeps the order
  bool exact = false;        // nothing is written beyond the elements of a row; `to` has no panels
  bool from_far = false;     // `from` is beyond L2, and turned: what is read is prefetched

  friend bool operator==(const PackShape&, const PackShape&) = default;
};

// How many elements along a panel a straight copy writes at once, with vectors of so many bytes: as many as
// have accumulators in one vector, if that divides the panel; else the whole panel.
inline int64_t PanelVector(int64_t panel, int vector_bytes, Dtype dtype) {
  const int64_t lanes = vector_bytes / Bytes(AccumulatorOf(dtype));
  return panel % lanes != 0 ? panel : lanes;
}

// Copies images and puts zeros around them. Each image is `planes` times `height` rows of `width` elements.
// There are planes of zeros before and after an image, rows of zeros in each plane, and `before` and `after`
// zeros around each row. If it `transposes`, it turns `planes` matrices of height x width instead. The
// operands are from, to.
struct CopyShape {
  int64_t images = 1, planes = 1, height = 1, width = 1;
  int64_t planes_before = 0, planes_after = 0, rows_before = 0, rows_after = 0, before = 0, after = 0;
  // With padding: elements from one image, and one plane, to the next where they are read.
  int64_t from_image = 0, from_plane = 0;
  Dtype dtype = Dtype::kF32;
  bool transposes = false;

  int64_t padded_planes() const { return planes_before + planes + planes_after; }
  int64_t padded_height() const { return rows_before + height + rows_after; }
  int64_t padded_width() const { return before + width + after; }
  int64_t rows() const { return images * planes * height; }  // that are read
  int64_t padded_elements() const { return images * padded_planes() * padded_height() * padded_width(); }
  friend bool operator==(const CopyShape&, const CopyShape&) = default;
};

// Runs a row program over rows of `columns` contiguous elements. The operands are the program's inputs, its
// results, and a row of scratch memory if the schedule keeps values there. KernelRun::count says how many
// rows there are.
struct RowShape {
  RowProgram program;
  RowSchedule schedule;
  Size columns = 0;  // a constant, or kLast
  // The distance in elements from each row to the next; 0 for whatever is the same for all rows; kLast where
  // rows follow each other without gaps.
  std::vector<Size> input_row_strides, result_row_strides;
  // True if inputs and results may share memory where MayBeInPlace() allows it. Otherwise no two operands
  // overlap.
  bool in_place = false;
  int sum_levels = 0;  // of sums down the columns: see SumLevels (spec/sum_blocks.h)

  // True if the schedule keeps values in scratch memory.
  bool TakesScratch() const;
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

// Any kind of kernel. Whoever handles kernels visits this variant, so a new kind is one more alternative.
using KernelShape = std::variant<TileShape, PackShape, CopyShape, RowShape, TransformShape>;

// True if some size of the kernel has the symbol.
bool Takes(const KernelShape& kernel, SizeSymbol symbol);

// The kernel with its sizes replaced by their values, so that the interpreter sees constants only. kTail
// follows from kCount.
KernelShape ForValues(KernelShape kernel, SymbolValues values);

// The element types of a kernel's operands, in the order of KernelRun::at.
std::vector<Dtype> OperandTypes(const KernelShape& kernel);

// True if the kernel writes through the operand; it only reads the others. A tile that accumulates also reads
// what it writes, and a row program reads the values that it keeps.
bool IsWritten(const KernelShape& kernel, size_t operand);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_KERNEL_SHAPE_H_
