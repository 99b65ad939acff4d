// The kernel catalogue: the instructions a register tile may be computed with, the forms it may have, and the
// registers it takes. Shared by the rewrites (what fits), the cost model (what it costs) and the code
// generator (what is emitted).
#ifndef KIRSCH_SPEC_MICROKERNEL_H_
#define KIRSCH_SPEC_MICROKERNEL_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "spec/dtype.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// How a vector of 32-bit accumulators takes in products. Each lane adds the products of `group` consecutive
// steps of the reduction at once. Which one is used follows from the operands' types and the group: see
// ArithmeticOf.
struct ArithmeticInfo {
  Arithmetic arithmetic;
  std::string_view name;
  int group;
};

inline constexpr std::array<ArithmeticInfo, kNumArithmetics> kArithmetics = {{
    {Arithmetic::kFma, "fma", 1},            // f32 += f32 * f32, rounded once
    {Arithmetic::kMultiplyAdd, "mul", 1},    // s32 += s32 * s32, modulo 2^32
    {Arithmetic::kFmaPairs, "fmapairs", 2},  // two of kFma, by f32 lhs and the halves of words of bf16 rhs
    {Arithmetic::kDotBf16, "dotbf16", 2},    // vdpbf16ps: f32 += bf16 * bf16, twice; subnormals count as zero
    {Arithmetic::kDotS16, "dots16", 2},      // vpmaddwd, vpaddd (or vpdpwssd): s32 += s16 * s16, twice
    {Arithmetic::kDotU8S8, "dotu8s8", 4},    // vpdpbusd: s32 += u8 * s8, four times; either operand is the u8
    // The same with lhs as o8, which is 128 too much: one more row of the tile sums 128 times rhs, to be
    // taken off.
    {Arithmetic::kDotO8S8, "doto8s8", 4},
}};

constexpr const ArithmeticInfo& Info(Arithmetic arithmetic) {
  return kArithmetics[static_cast<size_t>(arithmetic)];
}

// True if a lane takes groups of lhs, too, and not element by element.
constexpr bool GroupsLhs(Arithmetic arithmetic) {
  return Info(arithmetic).group > 1 && arithmetic != Arithmetic::kFmaPairs;
}

// The arithmetic by which `target` multiplies operands of these types, in either order, fastest; of several,
// the one with the largest group.
Arithmetic BestArithmetic(Dtype lhs, Dtype rhs, const Target& target);

// The same for a spec: one without groups where they would change the order of its sums.
Arithmetic BestArithmetic(const Spec& spec, const Target& target);

// The one of a given group: 1, or that of BestArithmetic.
Arithmetic ArithmeticOf(Dtype lhs, Dtype rhs, int group, const Target& target);

// True if the inputs are of types that no program widens or interleaves.
bool IsPlain(const Spec& spec);

// The type in which lhs or rhs, of type `dtype`, enters the arithmetic. If it is another, loads widen.
Dtype LaneType(Arithmetic arithmetic, int operand, Dtype dtype);

// A register tile: `rows` x `columns` accumulators.
//   kVectors      outer product: a column is a vector along the output's inner dim; per `group` steps of the
//                 reduction, `columns` vector loads of rhs and `rows` broadcasts of lhs
//   kPartialSums  dot product: a column is one output element; per `lanes * group` steps of the reduction,
//                 `rows` vector loads of lhs and `columns` of rhs; the lanes are summed at the end
//   kLanewise     a column is a vector along the output's inner dim; per `taps` steps of the reduction, for
//                 each column, `taps` vector loads of rhs and `inputs` of lhs, which rows have in common
struct RegisterTile {
  LayoutKind form = LayoutKind::kVectors;
  Arithmetic arithmetic = Arithmetic::kFma;
  int lanes = 0;
  int rows = 0;
  int columns = 0;
  bool masked_rhs = false;  // the last vector of rhs must be loaded under a mask register or mask vector
  bool widens_lhs = false;  // lhs or rhs are not of the arithmetic's own type
  bool widens_rhs = false;
  bool one_chain = false;    // sums must not be split
  int taps = 1, inputs = 1;  // kLanewise
  double prefetches = 0;     // lines that are prefetched in each trip, on average
  int sum_rows() const { return rows + (arithmetic == Arithmetic::kDotO8S8 ? 1 : 0); }
  int accumulators() const { return sum_rows() * columns; }
  int group() const { return Info(arithmetic).group; }
  friend bool operator==(const RegisterTile&, const RegisterTile&) = default;
};

// The register tile that computes all of `spec`'s output in the given register layout.
RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers, const Target& target);

// The unit of `target` with vectors of `lanes` accumulators.
const VectorUnit& UnitWithLanes(const Target& target, int lanes);

// Vector registers the tile needs while it runs.
int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit);

// Digits of a window's reduction that one trip of the microkernel's loop takes whole, so that short ones are
// no loops of their own.
int WholeDigits(const RegisterTile& tile, const VectorUnit& unit, const DigitAxis& reduction);

// Accumulator sets the reduction is split over, so that enough independent chains are in flight to cover
// their latency: 1, 2 or 4, as registers allow.
int KSplit(const RegisterTile& tile, const VectorUnit& unit);

// True if tiles of rhs are short pieces of rows of the caller's, which prefetchers don't follow, and enough
// rows of lhs are multiplied by each that there is time to ask for the next one meanwhile.
bool RhsIsReadInPieces(const Spec& spec);

// True if a microkernel asks for the tile of rhs beside its own: from L2, where a move may have said that it
// is before anyone has read it.
bool PrefetchesNextTile(const Spec& microkernel);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MICROKERNEL_H_
