#include "cost/compute_bound.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "cost/copy_cost.h"
#include "cost/microkernel_cost.h"
#include "spec/block.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A copy of lhs may turn it, where there are groups.
bool DotProductPossible(const Spec& spec) {
  return InnerDim(spec, kRhs) == kK && (InnerDim(spec, kLhs) == kK || !IsPlain(spec));
}

bool RhsIsAlongRows(const Spec& spec) {
  return InnerDim(spec, kRhs) == InnerDim(spec, spec.op_info().output());
}

}  // namespace

// What all bounds of a spec need of its sizes.
struct ComputeBounds::Sizes {
  Sizes(const Spec& spec, int narrow_lanes)
      : out(ExtentOf(spec, spec.op_info().output())),
        rows(static_cast<double>(out.batch * out.outer)),
        steps(ReductionSteps(spec)),
        rest(out.inner % narrow_lanes),
        whole(out.inner - rest),
        padded(rest == 0 ? whole : whole + narrow_lanes) {}
  double elements() const { return static_cast<double>(out.elements()); }
  double points() const { return elements() * steps; }

  TileExtent out;
  double rows, steps;           // of the output, of all batches; of the reduction
  int64_t rest, whole, padded;  // columns beside, in and up to whole vectors of the narrowest unit
};

ComputeBounds::ComputeBounds(const Target& target)
    : target_(target), best_trips_(target), narrow_lanes_(target.vectors.back().lanes()) {
  tiles_per_element_ = halving_cycles_ = kInfinity;
  for (const VectorUnit& unit : target.vectors) {
    tiles_per_element_ = std::min(tiles_per_element_, 1.0 / (unit.lanes() * unit.registers));
    halving_cycles_ = std::min(halving_cycles_, HalvingCycles(unit));
  }
  for (const DtypeInfo& lhs : kDtypes)
    for (const DtypeInfo& rhs : kDtypes)
      best_arithmetic_[static_cast<size_t>(lhs.dtype)][static_cast<size_t>(rhs.dtype)] =
          BestArithmetic(lhs.dtype, rhs.dtype, target);
  for (const Instruction& row : kInstructions) {
    double& multiply = multiply_cycles_[static_cast<size_t>(row.arithmetic)];
    multiply = kInfinity;
    for (const VectorUnit& unit : target.vectors)
      multiply = std::min(multiply, 1 / (unit.rate(row.arithmetic).per_cycle * unit.lanes() * row.group));
  }
  for (const DtypeInfo& row : kDtypes)
    if (IsOfBlocks(row.dtype)) FillDecoding(row.dtype, &decoding_[static_cast<size_t>(row.dtype)]);
}

void ComputeBounds::FillDecoding(Dtype dtype, Decoding* decoding) const {
  decoding->copied = kInfinity;
  for (Dtype to : {Dtype::kF32, Dtype::kBf16})
    decoding->copied = std::min(decoding->copied, DecodingInCopies(dtype, to, target_.vectors.front()));
  if (IsInPanels(dtype)) decoding->copied = PartingInCopies(dtype, target_.vectors.front());
  for (const Instruction& row : kInstructions) {
    double& least = decoding->in_registers[static_cast<size_t>(row.arithmetic)];
    least = kInfinity;
    for (const VectorUnit& unit : target_.vectors) {
      RegisterTile tile{LayoutKind::kPartialSums, row.arithmetic, unit.lanes(), 1, 1};
      tile.rhs = dtype;
      const double without = TripCyclesOf(tile, unit, target_).arithmetic;
      tile.by_tables = LooksUpBytes(dtype, unit.bytes, target_);
      tile.widens_rhs = WideningOf(row.arithmetic, kRhs, dtype, tile.by_tables);
      const double with = TripCyclesOf(tile, unit, target_).arithmetic;
      least = std::min(least, (with - without) / (unit.lanes() * row.group));
    }
  }
}

template <typename Body>
void ComputeBounds::ForEachArithmetic(const Spec& spec, const Body& body) const {
  const Dtype lhs = spec.operand[kLhs].dtype, rhs = spec.operand[kRhs].dtype;
  const Arithmetic plain = ArithmeticOf(lhs, rhs, 1, target_), best = BestArithmeticOf(lhs, rhs);
  body(plain, RhsOfProducts::kAsItIsOrDecoded);
  if (best != plain) body(best, RhsOfProducts::kAsItIs);
  const bool becomes_integers = spec.lhs_as == LhsAs::kQ8;
  if (becomes_integers) body(BestArithmeticOf(RoundedBeside(rhs), rhs), RhsOfProducts::kAsItIs);
  if ((becomes_integers || lhs == Dtype::kQ8) && (HasIntegerCodes(rhs) || GetsWider(rhs)))
    body(BestArithmeticOf(Dtype::kQ8, InPanels(rhs)), RhsOfProducts::kDecoded);
  if (spec.lhs_as == LhsAs::kItself) return;
  body(BestArithmeticOf(ElementAs(spec.lhs_as), rhs), RhsOfProducts::kAsItIs);
  if (spec.lhs_as == LhsAs::kF16) return;
  for (Dtype lhs_copy : {Dtype::kF32, Dtype::kBf16})
    body(BestArithmeticOf(lhs_copy, Dtype::kBf16), RhsOfProducts::kDecoded);
}

// Of as many microkernels as the registers make necessary.
double ComputeBounds::Entries(const Sizes& sizes) const {
  return std::max(1.0, sizes.elements() * tiles_per_element_) * target_.microkernel_cycles;
}

// Multiply-adds alone, with whole vectors of the narrowest unit.
double ComputeBounds::Lanewise(const Sizes& sizes) const {
  const int64_t vectors = sizes.padded / narrow_lanes_;
  double per_vector = kInfinity;
  for (const VectorUnit& unit : target_.vectors)
    per_vector = std::min(per_vector, narrow_lanes_ / (unit.lanes() * unit.fma_per_cycle));
  return static_cast<double>(sizes.out.outer * vectors) * sizes.steps * per_vector;
}

double ComputeBounds::PlainProducts(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic) const {
  if (spec.op_info().base == OpKind::kDepthwise) return Lanewise(sizes);
  const double outer = sizes.rows * static_cast<double>(sizes.padded) * sizes.steps *
                       best_trips_.Outer(arithmetic, {}, sizes.out.outer, sizes.padded);
  if (!DotProductPossible(spec)) return outer;
  const double dot = sizes.rows * static_cast<double>(sizes.out.inner) * sizes.steps *
                     best_trips_.Dot(arithmetic, {}, sizes.out.outer, sizes.out.inner);
  return std::min(outer, dot);
}

double ComputeBounds::Products(const Spec& spec) const { return Products(spec, {spec, narrow_lanes_}); }

double ComputeBounds::Products(const Spec& spec, const Sizes& sizes) const {
  double least = kInfinity;
  ForEachArithmetic(spec, [&](Arithmetic arithmetic, RhsOfProducts) {
    least = std::min(least, PlainProducts(spec, sizes, arithmetic));
  });
  return least + Entries(sizes);
}

// Which operands are copied before they are multiplied.
struct ComputeBounds::Copies {
  bool lhs, rhs;
  double cycles;
};

// The columns in whole vectors of the narrowest unit, and the rest. They are apart, since the rest may be
// multiplied otherwise: a bound must be below programs that do both. Tiles of outer products reach over both,
// or else over the whole vectors alone.
struct ComputeBounds::Parts {
  double outer_reaching = kInfinity, outer_alone = kInfinity, outer_rest = kInfinity;
  double dot_whole = kInfinity, dot_rest = kInfinity;

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

// Least cycles to copy the operand so that it need not be widened, or turned, any more. Windows and constants
// are taken to cost nothing.
double ComputeBounds::CopyCycles(const Spec& spec, int operand, Arithmetic arithmetic, double brought) const {
  const TensorSpec& tensor = spec.tensor(operand);
  if (tensor.constant != 0 || IsWindow(spec, operand)) return 0;
  const VectorUnit& unit = target_.vectors.front();
  const Dtype own = tensor.dtype, lane = LaneType(arithmetic, operand, own);
  const double converting = IsNarrow(own) ? ConvertingInCopies(own, lane, unit) : 0;
  double per_element = converting;
  if (operand == kLhs && InnerDim(spec, kLhs) != kK)  // turned, if groups need it
    per_element = std::min(converting, SquareCycles(kAccumulatorBytes, unit));
  if (operand == kRhs && !RhsIsAlongRows(spec)) {
    const int group = Info(arithmetic).group, words = kAccumulatorBytes / static_cast<int>(Bytes(lane));
    const int of_groups = group * static_cast<int>(Bytes(own));
    per_element =
        std::min(SquareCycles(of_groups, unit) / group, SquareCycles(kAccumulatorBytes, unit) / words);
  }
  return std::max(0.0, per_element * static_cast<double>(ExtentOf(spec, operand).elements()) - brought);
}

// Outer products take an rhs along rows in the groups of the arithmetic, and an lhs along the reduction, if
// that has groups, too; dot products, both along the reduction. Copies are made to suit.
ComputeBounds::Parts ComputeBounds::ProductsBy(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic,
                                               const Copies& copies) const {
  const TensorSpec &lhs = spec.operand[kLhs], &rhs = spec.operand[kRhs];
  const bool lhs_suits = copies.lhs || spec.ideal != 0, lhs_along_steps = InnerDim(spec, kLhs) == kK;
  const bool rhs_along_rows = RhsIsAlongRows(spec);
  BestTrips::Widened widened;
  if (!lhs_suits && IsNarrow(lhs.dtype)) widened.lhs = lhs.dtype;
  if (!copies.rhs && IsNarrow(rhs.dtype)) widened.rhs = rhs.dtype;
  const double of_column = copies.cycles / static_cast<double>(sizes.out.inner);
  const auto whole = static_cast<double>(sizes.whole), rest = static_cast<double>(sizes.rest);
  Parts parts;
  const Instruction& row = Info(arithmetic);
  const int group = IsWindow(spec, kRhs) ? 1 : rhs.layout.group;
  const bool rhs_suits = copies.rhs || (rhs_along_rows && group == row.group);
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
  if (!copies.rhs && !rhs_along_rows && (lhs_suits || lhs_along_steps)) {
    const double halving = spec.out().level == Level::kVrf ? 0 : halving_cycles_;
    const double product = best_trips_.Dot(arithmetic, widened, sizes.out.outer, sizes.out.inner);
    const double column = sizes.rows * (sizes.steps * product + halving) + of_column;
    parts.dot_whole = whole * column;
    parts.dot_rest = rest * column;
  }
  return parts;
}

// Any share of the elements of lhs and of rhs may be copied. The cycles are linear in each share, so they are
// least where all or none are. What is considered for copies alone begins with them.
double ComputeBounds::ProductsAndCopies(const Spec& spec, const Brought& brought) const {
  const Sizes sizes(spec, narrow_lanes_);
  if (spec.op_info().base == OpKind::kDepthwise || spec.ideal == kIdealInputs ||
      spec.lhs_as != LhsAs::kItself)
    return Products(spec, sizes);
  // Of types that are not widened, only a copy that turns rhs makes a difference.
  const bool copies_lhs =
      spec.ideal == 0 && MayBeCopied(spec.operand[kLhs]) && IsNarrow(spec.operand[kLhs].dtype);
  const bool copies_rhs =
      !RhsIsSettled(spec) && (IsNarrow(spec.operand[kRhs].dtype) || !RhsIsAlongRows(spec));
  Parts least;
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
  return least.Total() == kInfinity ? Products(spec, sizes) : least.Total() + Entries(sizes);
}

// Copies decode beside nothing but what they read and write; microkernels, by the units that multiply.
double ComputeBounds::ProductsOfBlocks(const Spec& spec, double rhs_brought) const {
  const Decoding& decoding = decoding_[static_cast<size_t>(spec.operand[kRhs].dtype)];
  const auto elements = static_cast<double>(ExtentOf(spec, kRhs).elements());
  const Sizes sizes(spec, narrow_lanes_);
  // Ideal panels are as wide ones.
  const bool is_wide = spec.ideal && IsInPanels(spec.operand[kRhs].dtype);
  const bool constant = spec.operand[kRhs].constant != 0;
  const double copied = is_wide ? 0 : elements * decoding.copied;
  double least = kInfinity;
  ForEachArithmetic(spec, [&](Arithmetic arithmetic, RhsOfProducts of_rhs) {
    const double bound = PlainProducts(spec, sizes, arithmetic);
    // What is decoded ahead may be read in columns, and hide whole.
    if (of_rhs != RhsOfProducts::kAsItIs)
      least = std::min(least, constant ? bound : bound + std::max(rhs_brought, copied));
    if (of_rhs == RhsOfProducts::kDecoded) return;
    const auto i = static_cast<size_t>(arithmetic);
    const double units = sizes.points() * multiply_cycles_[i] + elements * decoding.in_registers[i];
    least = std::min(least, std::max(bound, units) + rhs_brought);
  });
  return least + Entries(sizes);
}

}  // namespace kirsch
