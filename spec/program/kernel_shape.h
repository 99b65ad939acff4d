// SPDX-License-Identifier: Apache-2.0
// The leaves of a program: what each kind of kernel computes, and where the elements of its operands lie from
// the first one on. Plain data, that an interpreter follows and a code generator specialises procedures for.
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
#include "spec/sum_blocks.h"
#include "spec/window.h"
#include "spec/winograd.h"

namespace kirsch {

// Where the elements of an epilogue's operand lie, from the one for the tile's first element on.
struct EpilogueArgument {
  Dtype dtype = Dtype::kF32;
  int64_t row_stride = 0;  // 0: the same for all rows
  bool columns = false;    // one for each column, contiguous; else the same for all

  friend bool operator==(const EpilogueArgument&, const EpilogueArgument&) = default;
};

// out[m][n] (+)= sum over k of lhs[m][k] * rhs[k][n], in registers; then the epilogue. Of a depthwise
// convolution (kLanewise), lhs[m][k] is a vector along n. Operands: lhs, rhs, out, the epilogue's. How long
// the reduction is, is known when the kernel is run.
struct TileShape {
  RegisterTile tile;
  int64_t m = 0, n = 0;  // of out
  // Not 0: of the last so many columns, a vector, only as many exist as KernelRun::last says when the kernel
  // is run.
  int64_t runtime_n_tail = 0;
  MatrixLayout lhs, rhs, out;
  bool accumulate = false;
  bool runtime_beta = false;  // whether it accumulates, KernelRun::adds says
  Epilogue epilogue;
  std::vector<EpilogueArgument> arguments;
  bool prefetch_out = false;  // the output tile is not in L1 when the kernel starts
  Decision microkernel = {};  // as it was decided
  // Where that says nothing of prefetches: the elements of rhs so many columns further are prefetched.
  int64_t next_tile = 0;
  // Of columns without gaps: they are prefetched in the order in which they lie in memory, as many bytes at a
  // time as are read, and into L2 only: what L1 has room for is lhs.
  bool prefetches_in_order = false;
  bool prefetches_into_l2 = false;  // L1 is full of the tile that is read
  DigitAxis reduction = {};         // of a window: how it is indexed by the steps of the reduction
  int sum_levels = 0;               // of sums in blocks: see SumLevels (spec/sum_blocks.h)
  int64_t k_tail = 0;               // what is left of the reduction: k mod step()
  bool runtime_k_tail = false;      // that is known when the kernel is run

  // The elements of rhs so many steps of the reduction, or so many columns, further are prefetched; at most
  // one of the two is not 0.
  int64_t prefetch_k() const { return microkernel.dim == MatmulDims::kK ? microkernel.size : 0; }
  int64_t prefetch_n() const {
    return microkernel.size == 0 || microkernel.dim == MatmulDims::kK ? next_tile : microkernel.size;
  }

  // Steps of the reduction that one instruction takes in.
  int64_t step() const { return tile.step(); }
  // Steps that a block of the sum has at most.
  int64_t block_steps() const { return kSumBlock * (tile.step() / tile.group()); }
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// An axis of a copy.
enum class PackAxis : uint8_t { kNone, kOuter, kInner };

// The copy of a matrix in another layout or a wider type. Operands: from, to.
struct PackShape {
  int64_t outer = 0, inner = 0;  // of the copy's stored matrix
  // `from` has no panels, unless they are of blocks, and those of `to` as wide; a different order means that
  // the copy transposes, a wider type that it widens. Rows that are no whole vectors apart are written one
  // after the other, each beyond its end: by less than a vector. The last panel and the last group are filled
  // up with zeros; other padding is left undefined.
  MatrixLayout from, to;
  int64_t inner_stride = 1;    // of `from`: elements between neighbours; not 1: the copy keeps the order
  bool exact = false;          // nothing is written beyond the elements of a row; `to` has no panels
  int64_t runtime_n_tail = 0;  // of `inner`: as of a tile's columns; `to` has panels, `from` the same order
  bool from_far = false;       // `from` is beyond L2, and turned: what is read is prefetched
  // Along this axis there is as much as KernelRun::count says, at most what is said here. The inner one: of
  // rows that keep their order.
  PackAxis runtime_extent = PackAxis::kNone;

  friend bool operator==(const PackShape&, const PackShape&) = default;
};

// The elements along a panel that a straight copy writes at once, by vectors of so many bytes: as many as
// these have accumulators.
inline int64_t PanelVector(int64_t panel, int vector_bytes, Dtype dtype) {
  const int64_t lanes = vector_bytes / Bytes(AccumulatorOf(dtype));
  return panel % lanes != 0 ? panel : lanes;
}

// Images with zeros around them: each is `planes` times `height` rows of `width` elements, with planes of
// zeros before and after them, rows of zeros in each plane, and `before` and `after` zeros around each row.
// Or, if it `transposes`, `planes` matrices of height x width, each turned. Operands: from, to.
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

// A distance of rows: as many elements as a row has columns, where their number is known when the kernel
// runs.
inline constexpr int64_t kDenseRows = -1;

// A row program over rows of `columns` contiguous elements. Operands: the program's inputs, its results, and,
// if the schedule keeps values there, a row of scratch memory. How many rows there are is known when the
// kernel is run.
struct RowShape {
  RowProgram program;
  RowSchedule schedule;
  int64_t columns = 0;
  // From each row to the next, in elements; 0 for what is the same for all rows; kDenseRows, with
  // any_columns.
  std::vector<int64_t> input_row_strides, result_row_strides;
  bool any_columns = false;  // there are as many as KernelRun::last says, `columns` at most
  // Results and inputs may be the same memory where MayBeInPlace() says so of them; else no two overlap.
  bool in_place = false;
  int sum_levels = 0;  // of sums down the columns: see SumLevels (spec/sum_blocks.h)

  // Are there values in scratch memory?
  bool TakesScratch() const;
  friend bool operator==(const RowShape&, const RowShape&) = default;
};

using KernelShape = std::variant<TileShape, PackShape, CopyShape, RowShape, TransformShape>;

// Does the kernel take the program's run-time size, and KernelRun::last?
bool TakesSize(const KernelShape& kernel);
bool TakesLast(const KernelShape& kernel);

// What is known of a run when it happens: the program's size, and what KernelRun says.
struct RunValues {
  int64_t size = 0, last = 0, count = 1, adds = 0;
};
// What the kernel is for these.
KernelShape ForValues(KernelShape kernel, const RunValues& values);

// The element types of a kernel's operands, in their order.
std::vector<Dtype> OperandTypes(const KernelShape& kernel);

// Does the kernel write through the operand? The others it only reads; a tile that accumulates reads what it
// writes, too, and a row program what it keeps.
bool IsWritten(const KernelShape& kernel, size_t operand);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_KERNEL_SHAPE_H_
