// SPDX-License-Identifier: Apache-2.0
// Holds a spec: it says what to compute and what may be used, never how. It is the search's unit of work and
// the key of the memo. So it is a plain value, canonical, without padding, compared and hashed as bytes.
//
//   matmul f32 8x64x64 rhs=packed16@L2     a spec within a program: rhs is a copy in panels of 16 in L2
#ifndef KIRSCH_SPEC_SPEC_H_
#define KIRSCH_SPEC_SPEC_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/level.h"
#include "spec/lhs_as.h"
#include "spec/op.h"

namespace kirsch {

// Values of TensorSpec::resident.
inline constexpr uint8_t kResident = 1, kPrefetched = 2;

// One operand of a spec: its type, where it is, and how it lies.
struct TensorSpec {
  Dtype dtype = Dtype::kF32;
  Level level = Level::kRam;  // where the tile is when the spec starts, and (output) when it ends
  // How the tile came to its level. 0: it was there from the start, or a copy made it. kResident: a move
  // brought it, without code. kPrefetched: the same, and microkernels prefetch it (rhs): columns one behind
  // the other, or of rows the tile beside their own. A tile that a move has brought is not copied any more.
  uint8_t resident = 0;
  // 1: its contents are known ahead, so that it may be packed once, outside of the kernel. Only an input of a
  // root spec may be constant, and one at most.
  uint8_t constant = 0;
  Layout layout;
};
static_assert(sizeof(TensorSpec) == 12);

// Values of Spec::ideal.
inline constexpr uint8_t kIdealInputs = 1, kIdealLhs = 2;

struct alignas(8) Spec {
  OpKind op = OpKind::kMatmul;
  bool accumulate = false;     // out += ..., else out = ...
  uint8_t threads = 1;         // threads that may still be given work; 1: serial
  uint8_t active_threads = 1;  // threads running such specs at once: they share the outer caches and memory
  // A relaxation that only bounds ask about. kIdealInputs: inputs need neither widening nor interleaving.
  // kIdealLhs: lhs needs none; rhs is multiplied as it lies.
  uint8_t ideal : 2 = 0;
  // 1: every sum is a single chain of multiply-adds, by ascending steps of the reduction, that starts from
  // what is accumulated into, or from 0. So it is the same whatever the tiles. Sums of integers are the same
  // anyway.
  uint8_t fixed_order : 1 = 0;
  uint8_t block_rows : 1 = 0;  // blocks are of rows
  uint8_t zero : 4 = 0;
  // Of roots: the output is computed in blocks of so many columns (rows), so that callers can share them out.
  // 0: whole.
  uint16_t block = 0;
  LhsAs lhs_as = LhsAs::kItself;
  uint8_t always_zero = 0;                            // words compare, so there is no padding
  std::array<uint32_t, kMaxDims> size = {};           // per dim of the op; dims the op lacks are 0
  std::array<TensorSpec, kMaxOperands> operand = {};  // operands the op lacks are default values

  const OpInfo& op_info() const { return Info(op); }
  // An operand by its number in the op's row.
  const TensorSpec& tensor(int number) const { return operand[static_cast<size_t>(number)]; }
  TensorSpec& tensor(int number) { return operand[static_cast<size_t>(number)]; }
  const TensorSpec& out() const { return tensor(op_info().output()); }
  TensorSpec& out() { return tensor(op_info().output()); }

  static constexpr size_t kWords = 14;
  using Words = std::array<uint64_t, kWords>;
  Words words() const { return std::bit_cast<Words>(*this); }

  // All words are compared, without a branch for each.
  friend bool operator==(const Spec& a, const Spec& b) {
    const Words x = a.words(), y = b.words();
    uint64_t difference = 0;
    for (size_t i = 0; i < kWords; ++i) difference |= x[i] ^ y[i];
    return difference == 0;
  }
};
static_assert(sizeof(Spec) == 12 + 4 * kMaxDims + 12 * kMaxOperands);

// Bounds on input: sides, and elements per operand. With these, every byte offset fits 63 bits with room to
// spare.
inline constexpr uint32_t kMaxSide = 1u << 20;
inline constexpr int64_t kMaxElements = int64_t{1} << 32;

// The stored matrix of one operand of a spec: `batch` matrices of `outer` runs of `inner` contiguous
// elements. `inner` is the axis that `Layout::order` makes contiguous.
struct TileExtent {
  int64_t batch;
  int64_t outer;
  int64_t inner;
  int64_t elements() const { return batch * outer * inner; }
};

TileExtent ExtentOf(const Spec& spec, int operand);

// The dims that index the outer / inner axis of an operand's stored matrix (single-term axes).
int OuterDim(const Spec& spec, int operand);
int InnerDim(const Spec& spec, int operand);

// True if sums are along `dim`, which may be none (-1).
bool IsReduction(const Spec& spec, int dim);

// How a dim indexes the op's window; null if it doesn't.
const DigitAxis* WindowAxis(const Spec& spec, int dim);

// True if the operand lies as the op's window says.
bool IsWindow(const Spec& spec, int operand);

// How the rows of the operand lie, if not at one distance; else null.
const DigitAxis* RowDigits(const Spec& spec, int operand);

// True if rows (columns) of the operand may share elements: rows of a window, or rows that are longer than
// the distance to the next.
bool Overlaps(const Spec& spec, int operand);

// Replaces the op of a tile of a spec with a window: the new one has only the digits that the tile's indices
// have. A tile that is a matrix as any other has no window.
void NarrowWindow(Spec* spec);

// The dim that blocks are along.
inline int BlockDim(const Spec& spec) { return spec.block_rows != 0 ? MatmulDims::kM : MatmulDims::kN; }

// Is the operand one of the epilogue? Its place in a spec follows from the op and the output.
inline bool IsEpilogueOperand(const Spec& spec, int operand) { return operand > spec.op_info().output(); }

// May a copy of the operand still be made? A tile that a copy or a move has brought here is read as it lies.
constexpr bool MayBeCopied(const TensorSpec& tensor) {
  return tensor.layout.kind != LayoutKind::kPacked && tensor.resident == 0;
}

// Reduces lhs_as to the roundings that are still possible: those where a copy may round something, and there
// are products of the result.
void SettleRounding(Spec* spec);

// The type that sums are kept in. (Layouts and levels are left out of account.)
inline Dtype AccumulatorOf(const Spec& spec) { return AccumulatorOf(spec.operand[0].dtype); }

// The spec of the sums alone, stored where the output is.
Spec WithoutEpilogue(const Spec& spec);

// Sets types and layouts of the epilogue's operands: the type of the value that they meet; contiguous, or
// lying as the output does.
void LayOutEpilogue(Spec* spec);

// The input that is constant; -1: none is.
int ConstantOperand(const Spec& spec);

// Returns 2 * (points of the iteration space): multiplications plus additions.
double Flops(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_SPEC_H_
