// SPDX-License-Identifier: Apache-2.0
// Describes register tiles: the instruction that computes one (spec/instruction.h), the forms it may have,
// and the registers it takes.
//
// The rewrites ask what fits, the cost model what it costs, and the code generator what is emitted. They must
// agree, so everything that two of them need is here.
#ifndef KIRSCH_SPEC_MICROKERNEL_H_
#define KIRSCH_SPEC_MICROKERNEL_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "spec/decision.h"
#include "spec/dtype.h"
#include "spec/epilogue.h"
#include "spec/instruction.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Does the target have the instruction, for all of its vectors?
bool TargetHas(Arithmetic arithmetic, const Target& target);

// The arithmetic that takes one product at a time, of elements that are of the accumulator's type, or have
// been widened to it. It suits any rhs, and, but for sums of f16, any target.
Arithmetic PlainArithmetic(Dtype lhs);

// The fastest arithmetic by which `target` multiplies operands of these types, in either order. Of several
// that are as fast, it is the last one of the table.
Arithmetic BestArithmetic(Dtype lhs, Dtype rhs, const Target& target);

// The same for a spec: an arithmetic without groups where groups would change the order of its sums, or a
// copy has none.
Arithmetic BestArithmetic(const Spec& spec, const Target& target);

// The arithmetic by which the matrix unit multiplies operands of these very types; none if it doesn't.
std::optional<Arithmetic> TileArithmetic(Dtype lhs, Dtype rhs, const Target& target);

// The arithmetic of bf16 for which copies that round f32 are laid out: that of tiles, if there is one.
Arithmetic ArithmeticOfRounded(const Target& target);

// The fastest arithmetic with the given group. `target` has one for these types.
Arithmetic ArithmeticOf(Dtype lhs, Dtype rhs, int group, const Target& target);

// True if no program widens or interleaves the inputs, as their types need neither.
bool IsPlain(const Spec& spec);

// Will every program multiply rhs by elements of this type, in these groups? Not if a copy may still change
// them. Copies of a window have no groups; parts of it that are matrices as any others may have them.
bool RhsIsSettled(const Spec& spec);

// The type in which lhs or rhs, of type `dtype`, enters the arithmetic. If it is another, loads widen.
Dtype LaneType(Arithmetic arithmetic, int operand, Dtype dtype);

// The vectors that loads of the operand widen, as RegisterTile::widens_rhs counts them; 0 where it need not
// be widened.
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
//                 each column, `taps` vector loads of rhs and `inputs` of lhs, which rows have in common; of
//                 lanes in groups (Window::LaneGroup), a shuffle each
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
  // The cost of widening a vector of lhs or rhs to the arithmetic's own type: 0 if it is of that type, 1 for
  // a shuffle and a shift, and so on. Also that of rows of rhs that loads put together (interleaving.h).
  double widens_lhs = 0, widens_rhs = 0;
  Dtype lhs = Dtype::kF32, rhs = Dtype::kF32;  // that they are widened from, where they are
  bool by_tables = false;                      // rhs is: see LooksUpBytes
  // Instructions of a step besides its multiply-adds. `scaling`, for each accumulator: to make sums of
  // integers f32 and to multiply them by the scales of both operands. `row_scaling`, for each row: to have
  // its integers and what follows from them. 0: the arithmetic has no scales.
  double scaling = 0, row_scaling = 0;
  // The last vector of a row of rhs, where it is widened and not whole, is loaded in so many pieces, each of
  // a power of two of elements. 0: it is loaded as one.
  int pieces = 0;
  // The shares of the vectors of lhs (kPartialSums) and of rhs (not kLanewise) that lie across two lines of
  // the cache, as rows of the caller's matrix begin anywhere within a line. Copies are of whole lines: 0.
  double split_lhs = 0, split_rhs = 0;
  double unaligned = 0;    // vectors of a step that begin at no multiple of 8 bytes, on average
  bool one_chain = false;  // sums must not be split
  bool one_set = false;    // nor need they be, as their steps are few
  int taps = 1, inputs = 1, lane_group = 1;  // kLanewise
  double prefetches = 0;                     // lines that are prefetched in each trip, on average
  const Instruction& instruction() const { return Info(arithmetic); }
  int sum_rows() const { return rows + (instruction().has_excess() ? 1 : 0); }
  int accumulators() const { return sum_rows() * columns; }
  int group() const { return instruction().group; }
  int vector_bytes() const { return lanes * Bytes(instruction().accumulator()); }
  // Steps of the reduction that a multiply-add takes in.
  int step() const { return group() * (Info(form).steps_in_lanes ? lanes : 1); }
  // Of kTiles: the tiles of a matrix unit that the rows make, and the rows of one of them.
  int row_tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  int rows_of(int row_tile) const { return std::min(kTileRows, rows - row_tile * kTileRows); }
  // Registers of sums. If an element is first a sum of the integers of a step, it has a register for that,
  // too.
  int sum_registers() const { return accumulators() * (instruction().words > 1 ? 2 : 1); }
  // Of a product of integers of blocks: are rows of lhs read where they are used? They are if they are bytes
  // and there is a single column. Else their numbers stay in registers while columns take turns.
  bool reads_rows_late() const { return columns == 1 && group() == kWordBytes; }
  friend bool operator==(const RegisterTile&, const RegisterTile&) = default;
};

// Types that loads widen to the arithmetic's own; none: that operand is not widened.
struct WidenedTypes {
  std::optional<Dtype> lhs = {}, rhs = {};
};

// Sets the members that say what it takes to read operands of these types, and to scale sums of blocks.
void SetWidening(const WidenedTypes& widened, const Target& target, RegisterTile* tile);

// The register tile that computes all of `spec`'s output in the given register layout.
RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers, const Target& target);

// Are long sums added up in blocks (spec/sum_blocks.h)? Not where the order is fixed.
bool SumsInBlocks(const Spec& spec);

// Is there a masked access to elements in memory whose number is known at run time only? It takes AVX-512's
// masks for elements narrower than a word.
bool LanesMayVary(Dtype dtype, const Target& target);

// The unit of `target` whose vectors the tile's accumulators are.
const VectorUnit& UnitOf(const Target& target, const RegisterTile& tile);

// The registers that there are for such a tile: of its vector unit, or of the matrix unit.
int RegistersFor(const RegisterTile& tile, const Target& target);

// The registers of the matrix unit that a tile of kTiles needs: its accumulators, a step's tiles of lhs, and
// one of rhs.
int TileRegistersNeeded(const RegisterTile& tile);

// True if sums of a matrix unit's tiles wait in memory, and are taken from there as vectors: a store of a
// tile has no mask, converts nothing and has no epilogue. The output has `columns`.
bool TilesWait(const RegisterTile& tile, const Epilogue& epilogue, Dtype out, int64_t columns);

// The vector registers that the tile needs while it runs, with one set of accumulators.
int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit);

// The most vector registers in use at a time: of all accumulator sets, and of the operands that no
// instruction takes from memory. No more than RegistersNeeded of as many accumulators.
int RegistersAtPeak(const RegisterTile& tile, const VectorUnit& unit, const Target& target);

// The loads of one step that a multiply-add does itself, its operand being in memory. They are those of rhs
// for a single row, but for a masked vector; or of lhs for a single column, as vectors, or as broadcasts
// where those may be operands.
int FoldedLoads(const RegisterTile& tile, const VectorUnit& unit);

// The digits of a window's reduction that one trip of the microkernel's loop takes whole, so that short ones
// are no loops of their own.
int WholeDigits(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction);

// The accumulator sets over which the reduction is split, so that enough independent chains are in flight to
// cover their latency (ArithmeticRate::chains): 1, 2 or 4, as registers allow.
int KSplit(const RegisterTile& tile, const VectorUnit& unit);

// The sets that the cost model counts where their sums are added up. A mask, or what is being widened, may
// leave room for fewer sets. The sums are counted as if it didn't: a tile that needs neither must never cost
// more than one that does (search/solver/relaxation.h).
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

// True if tiles of rhs are short pieces of rows of the caller's, which prefetchers don't follow, and each is
// multiplied by so many rows of lhs that there is time to prefetch the next one.
bool RhsHasShortRuns(const Spec& spec);

// True if the program asks for the next tile of rhs while it works on this one, which the decision brings
// from beyond L2 to L1. The next tile waits in L2.
// - A copy (kPack) takes pieces of rows, which prefetchers don't follow; not where they fall on few sets of
// L2.
// - A move (kMove) takes a piece of a panel. Prefetchers follow it, but not in time where a line takes
// several
//   vectors: fewer lines are then on their way at once (bench/lab/2026-11-29.md).
bool AsksAhead(const Spec& spec, const Decision& decision, const Target& target);

// True if some program of the spec, or of one that it is the relaxed form of, may do so.
bool MayAskAhead(const Spec& spec, const Target& target);

// True of specs whose operands are dense to make others easier: no program packs the output.
bool IsRelaxed(const Spec& spec);

// True if rhs has whole columns that lie one behind the other, so few that they may stay whole. The next ones
// can then be prefetched in the order in which they lie in memory. Gaps may be of a line or two: engines
// leave them so that columns don't meet in few sets of a cache.
bool RhsIsReadInColumns(const Spec& spec);

// True if some program may read rhs in columns, or a copy of it that is made ahead.
bool MayReadInColumns(const Spec& spec);

// Did a move say that whole columns of rhs are prefetched, in the order in which they lie in memory?
bool PrefetchesColumns(const Spec& spec);

// True if a microkernel prefetches the tile of rhs beside its own, as a move to L2 said that microkernels do.
// It is one of columns, or of pieces of rows. (Pieces come as far as L2 only where L1 has a tile of its own.)
bool PrefetchesNextTile(const Spec& microkernel);

// How many columns further on the microkernel prefetches, where tiles are of columns. It is the same for
// tiles of any width, unless columns are long: so all columns are prefetched where tiles of several widths
// take turns.
int64_t ColumnsAhead(const Spec& microkernel);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MICROKERNEL_H_
