// SPDX-License-Identifier: Apache-2.0
// The kernel catalogue: which instruction (spec/instruction.h) a register tile is computed with, the forms it
// may have, and the registers it takes. Shared by the rewrites (what fits), the cost model (what it costs)
// and the code generator (what is emitted).
#ifndef KIRSCH_SPEC_MICROKERNEL_H_
#define KIRSCH_SPEC_MICROKERNEL_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "spec/dtype.h"
#include "spec/instruction.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Has the target the instruction, for all of its vectors?
bool TargetHas(Arithmetic arithmetic, const Target& target);

// One product at a time of elements that are of the accumulator's type, or have been widened to it: for any
// rhs, and, but for sums of f16, on any target.
Arithmetic PlainArithmetic(Dtype lhs);

// The arithmetic by which `target` multiplies operands of these types, in either order, fastest; of several,
// the one with the largest group.
Arithmetic BestArithmetic(Dtype lhs, Dtype rhs, const Target& target);

// The same for a spec: one without groups where they would change the order of its sums.
Arithmetic BestArithmetic(const Spec& spec, const Target& target);

// The arithmetic by which the matrix unit multiplies operands of these very types; none if it doesn't.
std::optional<Arithmetic> TileArithmetic(Dtype lhs, Dtype rhs, const Target& target);

// The arithmetic of bf16 that copies which round f32 are made for: that of tiles, if there is one.
Arithmetic ArithmeticOfRounded(const Target& target);

// The fastest one of a given group, which `target` has for these types.
Arithmetic ArithmeticOf(Dtype lhs, Dtype rhs, int group, const Target& target);

// True if the inputs are of types that no program widens or interleaves.
bool IsPlain(const Spec& spec);

// Will every program multiply rhs by elements of this type, in these groups? Copies of a window have its own;
// those of parts that are matrices as any others may not.
bool RhsIsSettled(const Spec& spec);

// The type in which lhs or rhs, of type `dtype`, enters the arithmetic. If it is another, loads widen.
Dtype LaneType(Arithmetic arithmetic, int operand, Dtype dtype);

// Vectors that loads of it widen, as RegisterTile::widens_rhs counts them; 0 where it need not be widened.
double WideningOf(Arithmetic arithmetic, int operand, Dtype dtype, bool by_tables = false);

// Are elements of such blocks made by looking their bytes up in tables of 128, a vector of bytes at a time?
bool LooksUpBytes(Dtype blocks, int vector_bytes, const Target& target);

// A register tile: `rows` x `columns` accumulators.
// clang-format off
//   kVectors      outer product: a column is a vector along the output's inner dim; per `group` steps of the
//                 reduction, `columns` vector loads of rhs and `rows` broadcasts of lhs
//   kPartialSums  dot product: a column is one output element; per `lanes * group` steps of the reduction,
//                 `rows` vector loads of lhs and `columns` of rhs; the lanes are summed at the end
//   kLanewise     a column is a vector along the output's inner dim; per `taps` steps of the reduction, for
//                 each column, `taps` vector loads of rhs and `inputs` of lhs, which rows have in common
//   kTiles        tiles of a matrix unit: a column is a vector along the output's inner dim; per
//                 `lanes * group` steps of the reduction, `columns` tiles of rhs and `row_tiles` of lhs
// clang-format on
struct RegisterTile {
  LayoutKind form = LayoutKind::kVectors;
  Arithmetic arithmetic = Arithmetic::kFma;
  int lanes = 0;
  int rows = 0;
  int columns = 0;
  bool masked_rhs = false;  // the last vector of rhs must be loaded under a mask register or mask vector
  // What it takes to widen a vector of lhs or rhs to the arithmetic's own type: 0 if it is of that type, 1
  // for a shuffle and a shift, and so on.
  double widens_lhs = 0, widens_rhs = 0;
  Dtype lhs = Dtype::kF32, rhs = Dtype::kF32;  // that they are widened from, where they are
  bool by_tables = false;                      // rhs is: see LooksUpBytes
  // Instructions of a step, beside its multiply-adds: for each accumulator, to make sums of integers f32 and
  // to multiply them by the scales of both operands; and for each row, to have its integers and what follows
  // from them. 0: the arithmetic has no scales.
  double scaling = 0, row_scaling = 0;
  // The last vector of a row of rhs, where it is widened and not whole: so many pieces, each of a power of
  // two of elements. 0: it is loaded as one.
  int pieces = 0;
  // Shares of its vectors of lhs (kPartialSums) and of rhs (not kLanewise) that lie across two lines of the
  // cache, as rows of the caller's matrix begin anywhere within a line. Copies are of whole lines: 0.
  double split_lhs = 0, split_rhs = 0;
  bool one_chain = false;    // sums must not be split
  bool one_set = false;      // nor need they be, as their steps are few
  int taps = 1, inputs = 1;  // kLanewise
  double prefetches = 0;     // lines that are prefetched in each trip, on average
  const Instruction& instruction() const { return Info(arithmetic); }
  int sum_rows() const { return rows + (instruction().has_excess() ? 1 : 0); }
  int accumulators() const { return sum_rows() * columns; }
  int group() const { return instruction().group; }
  int vector_bytes() const { return lanes * Bytes(instruction().accumulator()); }
  // Steps of the reduction that a multiply-add takes in.
  int step() const {
    return group() * (form == LayoutKind::kPartialSums || form == LayoutKind::kTiles ? lanes : 1);
  }
  // Of kTiles, those that the rows make, and the rows of one of them.
  int row_tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  int rows_of(int row_tile) const { return std::min(kTileRows, rows - row_tile * kTileRows); }
  // Registers of sums: where they are of the integers of a step first, each element has two.
  int sum_registers() const { return accumulators() * (instruction().words > 1 ? 2 : 1); }
  // Of a product of integers of blocks: are rows of lhs read where they are used? So they are of bytes and a
  // single column; else what they have stays in registers while columns take turns.
  bool reads_rows_late() const { return columns == 1 && group() == kWordBytes; }
  friend bool operator==(const RegisterTile&, const RegisterTile&) = default;
};

// Types that loads widen to the arithmetic's own; none: that operand is not widened.
struct WidenedTypes {
  std::optional<Dtype> lhs = {}, rhs = {};
};

// Sets what it takes to read operands of these types, and to scale sums of blocks.
void SetWidening(const WidenedTypes& widened, const Target& target, RegisterTile* tile);

// The register tile that computes all of `spec`'s output in the given register layout.
RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers, const Target& target);

// Are long sums added up in blocks (spec/sum_blocks.h)? Not where the order is fixed.
bool SumsInBlocks(const Spec& spec);

// Is there a masked access to elements in memory whose number is known at run time only?
bool LanesMayVary(Dtype dtype, const Target& target);

// The unit of `target` whose vectors the tile's accumulators are.
const VectorUnit& UnitOf(const Target& target, const RegisterTile& tile);

// Registers of the matrix unit that a tile of kTiles needs: accumulators, a step's tiles of lhs, and one of
// rhs.
int TileRegistersNeeded(const RegisterTile& tile);

// Vector registers the tile needs while it runs, with one set of accumulators.
int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit);

// Vector registers in use at the same time, at most: of all accumulator sets, and of the operands that no
// instruction takes from memory. No more than RegistersNeeded of as many accumulators.
int RegistersAtPeak(const RegisterTile& tile, const VectorUnit& unit, const Target& target);

// Loads of one step that a multiply-add does itself, its operand being in memory: rhs of a single row, but
// for a masked vector; lhs of a single column, as vectors or as broadcasts where those may be operands.
int FoldedLoads(const RegisterTile& tile, const VectorUnit& unit);

// Digits of a window's reduction that one trip of the microkernel's loop takes whole, so that short ones are
// no loops of their own.
int WholeDigits(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction);

// Accumulator sets the reduction is split over, so that enough independent chains are in flight to cover
// their latency (ArithmeticRate::chains): 1, 2 or 4, as registers allow.
int KSplit(const RegisterTile& tile, const VectorUnit& unit);

// The sets that are counted where their sums are added up. A mask or what is being widened may leave room for
// fewer: their sums are counted as if it didn't, as a tile that needs neither must never cost more than one
// that does (search/solver/relaxation.h).
int CountedSets(RegisterTile tile, const VectorUnit& unit);

// The microkernel's main loop. A trip of it takes `unroll` groups of steps of the reduction (kPartialSums:
// vectors of them), with their parts a multiple of `sets`; `whole_digits` as WholeDigits says.
struct MainLoop {
  int sets = 1, whole_digits = 0, unroll = 1;
};

// `reduction`: of a window; without digits where there is none.
MainLoop MainLoopOf(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction);

// Groups of steps from one run of the digits that are taken whole to the next.
int RunSteps(const RegisterTile& tile, const DigitAxis& reduction, int whole_digits);

// True if tiles of rhs are short pieces of rows of the caller's, which prefetchers don't follow, and enough
// rows of lhs are multiplied by each that there is time to ask for the next one meanwhile.
bool RhsIsReadInPieces(const Spec& spec);

// True if rhs has whole columns that lie one behind the other, so few that they may stay whole. The next ones
// can then be asked for in the order in which they lie in memory. Gaps may be of a line or two: engines leave
// them so that columns don't meet in few sets of a cache.
bool RhsIsReadInColumns(const Spec& spec);

// True if some program may read rhs so, or a copy that is made of it ahead.
bool MayReadInColumns(const Spec& spec);

// Did a move say that whole columns of rhs are asked for, in the order in which they lie in memory?
bool PrefetchesColumns(const Spec& spec);

// True if a microkernel asks for the tile of rhs beside its own, as a move to L2 said that microkernels do:
// of columns, or of pieces of rows. (These come as far as L2 only where L1 has a tile of its own.)
bool PrefetchesNextTile(const Spec& microkernel);

// Of tiles of columns: how many columns further on lies what the microkernel asks for. As many whatever the
// tile has, unless columns are long: so all columns are asked for where tiles of several widths take turns.
int64_t ColumnsAhead(const Spec& microkernel);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MICROKERNEL_H_
