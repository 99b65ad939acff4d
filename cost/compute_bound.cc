// SPDX-License-Identifier: Apache-2.0
#include "cost/compute_bound.h"

#include <algorithm>

#include "cost/copy_cost.h"
#include "cost/cost.h"
#include "cost/microkernel_cost.h"
#include "spec/block.h"
#include "spec/interleaving.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;

// True if both operands may lie along the reduction. A copy of lhs may turn it, where there are groups.
bool DotProductPossible(const Spec& spec) {
  return InnerDim(spec, kRhs) == kK && (InnerDim(spec, kLhs) == kK || !IsPlain(spec));
}

// True if rhs lies along the output's rows, as outer products read it.
bool RhsIsAlongRows(const Spec& spec) {
  return InnerDim(spec, kRhs) == InnerDim(spec, spec.op_info().output());
}

// True if rhs is a window of several whole runs of columns, or of columns that are apart.
bool IsInRuns(const Spec& spec, int64_t columns) {
  if (!IsWindow(spec, kRhs)) return false;
  const DigitAxis& axis = *WindowAxis(spec, MatmulDims::kN);
  return axis.stride(0) != 1 || (axis.digits > 1 && columns % axis.RunLength(0) == 0);
}

}  // namespace

// The sizes that all bounds of a spec need, worked out once.
struct ComputeBounds::Sizes {
  Sizes(const Spec& spec, int narrow_bytes)
      : accumulator(AccumulatorOf(spec)),
        narrow(narrow_bytes / Bytes(accumulator)),
        out(ExtentOf(spec, spec.op_info().output())),
        rows(static_cast<double>(out.batch * out.outer)),
        steps(ReductionSteps(spec)),
        rest(out.inner % narrow),
        whole(out.inner - rest),
        padded(rest == 0 ? whole : whole + narrow) {}
  double elements() const { return static_cast<double>(out.elements()); }

  Dtype accumulator;
  int64_t narrow;  // lanes of the narrowest unit
  TileExtent out;
  double rows, steps;           // of the output, of all batches; of the reduction
  int64_t rest, whole, padded;  // columns beside, in and up to whole vectors of the narrowest unit
};

ComputeBounds::ComputeBounds(const Target& target)
    : target_(target), best_trips_(target), narrow_bytes_(target.vectors.back().bytes) {
  // Everything that depends on the target alone is worked out here, once.
  tiles_per_byte_ = kInfiniteCycles;
  halving_cycles_.fill(kInfiniteCycles);
  for (const VectorUnit& unit : target.vectors) {
    tiles_per_byte_ = std::min(tiles_per_byte_, 1.0 / (unit.bytes * unit.registers));
    for (const DtypeInfo& row : kDtypes) {
      double& halving = halving_cycles_[static_cast<size_t>(row.dtype)];
      halving = std::min(halving, HalvingCycles(unit, AccumulatorOf(row.dtype)));
    }
  }
  matrix_tiles_per_byte_ = tiles_per_byte_;
  if (target.matrix)
    matrix_tiles_per_byte_ =
        std::min(tiles_per_byte_, 1.0 / (target.matrix->registers * kTileRows * kTileRowBytes));
  for (const DtypeInfo& lhs : kDtypes)
    for (const DtypeInfo& rhs : kDtypes) {
      const auto a = static_cast<size_t>(lhs.dtype), b = static_cast<size_t>(rhs.dtype);
      best_arithmetic_[a][b] = BestArithmetic(lhs.dtype, rhs.dtype, target);
      tile_arithmetic_[a][b] = TileArithmetic(lhs.dtype, rhs.dtype, target);
    }
  for (const DtypeInfo& row : kDtypes)
    if (IsOfBlocks(row.dtype)) decoding_cycles_[static_cast<size_t>(row.dtype)] = DecodingCycles(row.dtype);
}

double ComputeBounds::DecodingCycles(Dtype blocks) const {
  const VectorUnit& unit = target_.vectors.front();
  // Codes in panels are parted into wider ones; other blocks are decoded to the cheaper of two types.
  if (IsInPanels(blocks)) return PartingInCopies(blocks, unit);
  return std::min(DecodingInCopies(blocks, Dtype::kF32, unit), DecodingInCopies(blocks, Dtype::kBf16, unit));
}

template <typename Body>
void ComputeBounds::ForEachArithmetic(const Spec& spec, const Body& body) const {
  const Dtype lhs = spec.operand[kLhs].dtype, rhs = spec.operand[kRhs].dtype;
  const Arithmetic plain = ArithmeticOf(lhs, rhs, 1, target_);
  const auto of_types = [&](Dtype lhs_type, Dtype rhs_type, RhsOfProducts of_rhs) {
    const Arithmetic best = BestArithmeticOf(lhs_type, rhs_type);
    body(best, of_rhs);
    const std::optional<Arithmetic> tiles = TileArithmeticOf(lhs_type, rhs_type);
    if (tiles && *tiles != best) body(*tiles, of_rhs);
  };
  // The plain arithmetic, which takes any operands; then the fastest for the types as they are, or for copies
  // of blocks as words of bf16; ...
  if (!IsRounded(lhs)) body(plain, RhsOfProducts::kAsItIsOrDecoded);
  if (BestArithmeticOf(lhs, rhs) != plain || TileArithmeticOf(lhs, rhs))
    of_types(lhs, rhs, lhs == Dtype::kBf16 ? RhsOfProducts::kAsItIsOrDecoded : RhsOfProducts::kAsItIs);
  // ... then those for what lhs may be rounded to, beside rhs as it is, or beside copies of it.
  const bool becomes_integers = spec.lhs_as == LhsAs::kQ8;
  if (becomes_integers) of_types(RoundedBeside(rhs), rhs, RhsOfProducts::kAsItIs);
  if ((becomes_integers || lhs == Dtype::kQ8) && (HasIntegerCodes(rhs) || GetsWider(rhs)))
    of_types(Dtype::kQ8, InPanels(rhs), RhsOfProducts::kDecoded);
  if (spec.lhs_as == LhsAs::kItself) return;
  of_types(ElementAs(spec.lhs_as), rhs, RhsOfProducts::kAsItIs);
  if (spec.lhs_as == LhsAs::kF16) return;
  for (Dtype lhs_copy : {Dtype::kF32, Dtype::kBf16})
    of_types(lhs_copy, Dtype::kBf16, RhsOfProducts::kDecoded);
}

// The entries of as many microkernels as registers make necessary: their sums hold the whole output.
double ComputeBounds::Entries(const Spec& spec, const Sizes& sizes) const {
  const bool tiles =
      spec.lhs_as != LhsAs::kItself || TileArithmeticOf(spec.operand[kLhs].dtype, spec.operand[kRhs].dtype);
  return std::max(1.0, sizes.elements() * Bytes(sizes.accumulator) *
                           (tiles ? matrix_tiles_per_byte_ : tiles_per_byte_)) *
         target_.microkernel_cycles;
}

// Multiply-adds alone, with whole vectors of the narrowest unit.
double ComputeBounds::Lanewise(const Sizes& sizes) const {
  const int64_t vectors = sizes.padded / sizes.narrow;
  double per_vector = kInfiniteCycles;
  for (const VectorUnit& unit : target_.vectors)
    per_vector = std::min(per_vector, narrow_bytes_ / (unit.bytes * unit.fma_per_cycle));
  return static_cast<double>(sizes.out.outer * vectors) * sizes.steps * per_vector;
}

// Points of the iteration space, times the best cycles for each; columns are padded to whole vectors.
double ComputeBounds::OuterProducts(const Sizes& sizes, Arithmetic arithmetic,
                                    const WidenedTypes& widened) const {
  return sizes.rows * static_cast<double>(sizes.padded) * sizes.steps *
         best_trips_.Outer(arithmetic, widened, sizes.out.outer, sizes.padded);
}

double ComputeBounds::DotProducts(const Sizes& sizes, Arithmetic arithmetic,
                                  const WidenedTypes& widened) const {
  return sizes.rows * static_cast<double>(sizes.out.inner) * sizes.steps *
         best_trips_.Dot(arithmetic, widened, sizes.out.outer, sizes.out.inner);
}

double ComputeBounds::PlainProducts(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic) const {
  if (spec.op_info().lanewise()) return Lanewise(sizes);
  const double outer = OuterProducts(sizes, arithmetic, {});
  return DotProductPossible(spec) ? std::min(outer, DotProducts(sizes, arithmetic, {})) : outer;
}

double ComputeBounds::Products(const Spec& spec) const { return Products(spec, {spec, narrow_bytes_}); }

// The cheapest arithmetic that any program of the spec may use.
double ComputeBounds::Products(const Spec& spec, const Sizes& sizes) const {
  double least = kInfiniteCycles;
  ForEachArithmetic(spec, [&](Arithmetic arithmetic, RhsOfProducts) {
    least = std::min(least, PlainProducts(spec, sizes, arithmetic));
  });
  return least + Entries(spec, sizes);
}

// Says which operands are copied before they are multiplied, and the cycles of that.
struct ComputeBounds::Copies {
  bool lhs, rhs;
  double cycles;
};

// Bounds of the columns in whole vectors of the narrowest unit, and of the rest. The two are apart, since the
// rest may be multiplied otherwise: a bound must be below programs that do both. Tiles of outer products
// reach over both parts, or else over the whole vectors alone.
//
//   35 columns, the narrowest vector of 4: 32 in whole ones, a rest of 3: outer products of 36, or dots of 3
struct ComputeBounds::Parts {
  double outer_reaching = kInfiniteCycles, outer_alone = kInfiniteCycles, outer_rest = kInfiniteCycles;
  double dot_whole = kInfiniteCycles, dot_rest = kInfiniteCycles;

  void TakeLeast(const Parts& other) {
    outer_reaching = std::min(outer_reaching, other.outer_reaching);
    outer_alone = std::min(outer_alone, other.outer_alone);
    outer_rest = std::min(outer_rest, other.outer_rest);
    dot_whole = std::min(dot_whole, other.dot_whole);
    dot_rest = std::min(dot_rest, other.dot_rest);
  }
  double Total() const {
    return std::min(outer_rest + std::min(outer_reaching, dot_whole),
                    dot_rest + std::min(outer_alone, dot_whole));
  }
};

// Returns the least cycles to copy the operand so that it need not be widened, or turned, any more, beyond
// those that reading it takes anyway. Windows and constants are taken to cost nothing, which keeps it a
// bound.
double ComputeBounds::CopyCycles(const Spec& spec, int operand, Arithmetic arithmetic, double brought) const {
  const TensorSpec& tensor = spec.tensor(operand);
  if (tensor.constant != 0 || IsWindow(spec, operand)) return 0;
  const VectorUnit& unit = target_.vectors.front();
  const Dtype own = tensor.dtype, lane = LaneType(arithmetic, operand, own);
  const double converting = IsNarrow(own) ? ConvertingInCopies(own, lane, unit) : 0;
  double per_element = converting;
  if (operand == kLhs && InnerDim(spec, kLhs) != kK)  // turned, if groups need it
    per_element = std::min(converting, SquareCycles(kWordBytes, unit));
  if (operand == kRhs && !RhsIsAlongRows(spec)) {
    const int group = Info(arithmetic).group, words = WordElements(lane);
    const int of_groups = group * static_cast<int>(Bytes(own));
    per_element = std::min(SquareCycles(of_groups, unit) / group, SquareCycles(kWordBytes, unit) / words);
  }
  return std::max(0.0, per_element * static_cast<double>(ExtentOf(spec, operand).elements()) - brought);
}

// Bounds the products by one arithmetic with these copies. Outer products take an rhs along rows in the
// groups of the arithmetic, which loads may make at a cost that is not counted, and an lhs along the
// reduction, if that has groups, too. Dot products take both along the reduction. Copies are made to suit.
ComputeBounds::Parts ComputeBounds::ProductsBy(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic,
                                               const Copies& copies) const {
  const TensorSpec &lhs = spec.operand[kLhs], &rhs = spec.operand[kRhs];
  const bool lhs_suits = copies.lhs || spec.ideal != 0, lhs_along_steps = InnerDim(spec, kLhs) == kK;
  const bool rhs_along_rows = RhsIsAlongRows(spec);
  WidenedTypes widened;
  if (!lhs_suits && IsNarrow(lhs.dtype)) widened.lhs = lhs.dtype;
  if (!copies.rhs && IsNarrow(rhs.dtype)) widened.rhs = rhs.dtype;
  const double of_column = copies.cycles / static_cast<double>(sizes.out.inner);
  const auto whole = static_cast<double>(sizes.whole), rest = static_cast<double>(sizes.rest);
  Parts parts;
  const Instruction& row = Info(arithmetic);
  const int group = IsWindow(spec, kRhs) ? 1 : rhs.layout.group;
  // Outer products: a last vector that is not whole costs as much as a whole one.
  const bool rhs_suits =
      copies.rhs || (rhs_along_rows && group == row.group) || MayInterleave(spec, arithmetic, /*parts=*/true);
  if (rhs_suits && (lhs_suits || lhs_along_steps || !row.groups_lhs())) {
    const auto column = [&](int64_t padded_columns) {
      return sizes.rows * sizes.steps *
             best_trips_.Outer(arithmetic, widened, sizes.out.outer, padded_columns);
    };
    const double reaching = column(sizes.padded);
    const double alone = sizes.rest == 0 || sizes.whole == 0 ? reaching : column(sizes.whole);
    parts.outer_reaching = whole * (reaching + of_column);
    parts.outer_alone = whole * (alone + of_column);
    parts.outer_rest = static_cast<double>(sizes.padded - sizes.whole) * reaching + rest * of_column;
  }
  // Dot products: each sum has its lanes added up in the end, unless the output stays in registers.
  if (!copies.rhs && !rhs_along_rows && (lhs_suits || lhs_along_steps)) {
    const double halving =
        spec.out().level == Level::kVrf ? 0 : halving_cycles_[static_cast<size_t>(lhs.dtype)];
    const double product = best_trips_.Dot(arithmetic, widened, sizes.out.outer, sizes.out.inner);
    const double column = sizes.rows * (sizes.steps * product + halving) + of_column;
    parts.dot_whole = whole * column;
    parts.dot_rest = rest * column;
  }
  return parts;
}

// Bounds products by a window of rhs. Read as it lies, each vector is of one run; a copy joins runs, and
// columns that are apart. Neither has groups, but loads may make those of a copy. The columns of a run that
// fill vectors, and the rest, are apart (Parts).
double ComputeBounds::ProductsOfWindow(const Spec& spec, const Sizes& sizes, bool copies_lhs,
                                       const Brought& brought) const {
  const Dtype lhs = spec.operand[kLhs].dtype, rhs = spec.operand[kRhs].dtype;
  const DigitAxis& columns = *WindowAxis(spec, MatmulDims::kN);
  const int64_t run = std::min(columns.RunLength(0), sizes.out.inner);
  const int64_t vectors = (run + sizes.narrow - 1) / sizes.narrow, padded = vectors * sizes.narrow;
  const auto in_rest = static_cast<double>(run % sizes.narrow);
  const double in_whole = static_cast<double>(run) - in_rest;
  const VectorUnit& unit = target_.vectors.front();
  const double stored = Bytes(rhs) / (unit.stores_per_cycle * unit.bytes);
  const auto elements = static_cast<double>(ExtentOf(spec, kRhs).elements());
  const auto of_column = [&](double cycles) { return cycles / static_cast<double>(sizes.out.inner); };
  const double copy_of_rhs =
      of_column(std::max(0.0, elements * LeastWindowCopyCycles(spec, kRhs, stored, unit) - brought.rhs));
  double whole = kInfiniteCycles, rest = kInfiniteCycles;
  // With lhs as it is or copied; then with rhs as it lies, if its columns are neighbours, or copied.
  for (bool copied_lhs : {false, true}) {
    if (copied_lhs && !copies_lhs) continue;
    const Arithmetic arithmetic = ArithmeticOf(lhs, rhs, 1, target_);
    const bool widens_lhs = !copied_lhs && spec.ideal == 0 && IsNarrow(lhs);
    const WidenedTypes widened{widens_lhs ? std::optional(lhs) : std::nullopt,
                               IsNarrow(rhs) ? std::optional(rhs) : std::nullopt};
    const double copy_of_lhs = copied_lhs ? of_column(CopyCycles(spec, kLhs, arithmetic, brought.lhs)) : 0;
    const auto products = [&](Arithmetic by, int64_t width) {
      return sizes.rows * sizes.steps * best_trips_.Outer(by, widened, sizes.out.outer, width);
    };
    if (columns.stride(0) == 1) {
      const double column = products(arithmetic, padded);
      whole = std::min(whole, in_whole * (column + copy_of_lhs));
      rest = std::min(rest, (static_cast<double>(padded) - in_whole) * column + in_rest * copy_of_lhs);
    }
    if (MayBeCopied(spec.operand[kRhs])) {
      const Arithmetic best = BestArithmeticOf(lhs, rhs);
      double least = products(arithmetic, sizes.padded);
      if (MayInterleave(spec, best, /*parts=*/true)) least = std::min(least, products(best, sizes.padded));
      const double column = least + copy_of_rhs + copy_of_lhs;
      whole = std::min(whole, in_whole * column);
      rest = std::min(rest, in_rest * column);
    }
  }
  const int64_t runs = sizes.out.inner / run;
  return static_cast<double>(runs) * (whole + (in_rest > 0 ? rest : 0));
}

// Bounds the stores between parts. Parts of a window that are plain matrices have the steps of one run: sums
// of several are stored in between, each by microkernels of its own.
double ComputeBounds::BetweenStridedParts(const Spec& spec, const Sizes& sizes) const {
  const DigitAxis& steps = *WindowAxis(spec, kK);
  if (steps.digits == 1) return 0;
  const double parts = sizes.steps / static_cast<double>(steps.digit[0].count);
  const VectorUnit& unit = target_.vectors.front();
  const double stores = sizes.elements() * Bytes(sizes.accumulator) / (unit.stores_per_cycle * unit.bytes);
  return std::max(0.0, parts - 1) * (stores + Entries(spec, sizes));
}

// Any share of the elements of lhs and of rhs may be copied. The cycles are linear in each share, so they are
// least where all or none are. What is considered for copies alone begins with them.
double ComputeBounds::ProductsAndCopies(const Spec& spec, const Brought& brought) const {
  const Sizes sizes(spec, narrow_bytes_);
  if (spec.op_info().lanewise() || spec.ideal == kIdealInputs || spec.lhs_as != LhsAs::kItself)
    return Products(spec, sizes);
  // Of types that are not widened, only a copy that turns rhs makes a difference.
  const bool copies_lhs =
      spec.ideal == 0 && MayBeCopied(spec.operand[kLhs]) && IsNarrow(spec.operand[kLhs].dtype);
  const bool copies_rhs =
      !RhsIsSettled(spec) && (IsNarrow(spec.operand[kRhs].dtype) || !RhsIsAlongRows(spec));
  double of_window = kInfiniteCycles, between_parts = 0;
  if (IsInRuns(spec, sizes.out.inner)) {
    of_window = ProductsOfWindow(spec, sizes, copies_lhs, brought) + Entries(spec, sizes);
    if (!spec.op_info().window.HasStridedParts())
      return of_window < kInfiniteCycles ? of_window : Products(spec, sizes);
    between_parts = BetweenStridedParts(spec, sizes);
  }
  Parts least;
  // Takes the least over copying lhs or not, and rhs or not. `..._first`: only with that copy.
  const auto consider = [&](Arithmetic arithmetic, bool copies_lhs_first, bool copies_rhs_first) {
    const double lhs = copies_lhs ? CopyCycles(spec, kLhs, arithmetic, brought.lhs) : 0;
    const double rhs = copies_rhs ? CopyCycles(spec, kRhs, arithmetic, brought.rhs) : 0;
    for (bool copied_lhs : {false, true})
      for (bool copied_rhs : {false, true})
        if ((copied_lhs ? copies_lhs : !copies_lhs_first) && (copied_rhs ? copies_rhs : !copies_rhs_first))
          least.TakeLeast(
              ProductsBy(spec, sizes, arithmetic,
                         {copied_lhs, copied_rhs, (copied_lhs ? lhs : 0) + (copied_rhs ? rhs : 0)}));
  };
  ForEachArithmetic(spec, [&](Arithmetic arithmetic, RhsOfProducts) {
    consider(arithmetic, false, false);
    // Copies are of the types that it takes, for which there may be another one.
    const Dtype lhs = spec.operand[kLhs].dtype, rhs = spec.operand[kRhs].dtype;
    const Dtype lhs_copy = LaneType(arithmetic, kLhs, lhs), rhs_copy = LaneType(arithmetic, kRhs, rhs);
    if (copies_lhs && lhs_copy != lhs) consider(BestArithmeticOf(lhs_copy, rhs), true, false);
    if (copies_rhs && rhs_copy != rhs) consider(BestArithmeticOf(lhs, rhs_copy), false, true);
  });
  const double products =
      least.Total() == kInfiniteCycles ? Products(spec, sizes) : least.Total() + Entries(spec, sizes);
  return std::min(of_window, products + between_parts);
}

// Copies decode beside nothing but what they read and write; microkernels decode each for its own rows. What
// lies along the reduction is read in dot products. Ideal operands are as if they were decoded.
double ComputeBounds::ProductsOfBlocks(const Spec& spec, double rhs_brought) const {
  const TensorSpec& rhs = spec.operand[kRhs];
  const Sizes sizes(spec, narrow_bytes_);
  const auto elements = static_cast<double>(ExtentOf(spec, kRhs).elements());
  const double copied =
      spec.ideal && IsInPanels(rhs.dtype) ? 0 : elements * decoding_cycles_[static_cast<size_t>(rhs.dtype)];
  WidenedTypes widened;
  if (spec.ideal != kIdealInputs) widened.rhs = rhs.dtype;
  double least = kInfiniteCycles;
  ForEachArithmetic(spec, [&](Arithmetic arithmetic, RhsOfProducts of_rhs) {
    // What is decoded ahead may be read in columns, and hide whole.
    if (of_rhs != RhsOfProducts::kAsItIs) {
      const double products = PlainProducts(spec, sizes, arithmetic);
      least = std::min(least, rhs.constant != 0 ? products : products + std::max(rhs_brought, copied));
    }
    if (of_rhs == RhsOfProducts::kDecoded) return;
    const double products = InnerDim(spec, kRhs) == kK && !IsInPanels(rhs.dtype)
                                ? DotProducts(sizes, arithmetic, widened)
                                : OuterProducts(sizes, arithmetic, widened);
    least = std::min(least, products + rhs_brought);
  });
  return least + Entries(spec, sizes);
}

}  // namespace kirsch
