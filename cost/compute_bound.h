// SPDX-License-Identifier: Apache-2.0
// Lower bounds of what arithmetic takes, whatever the tiles: products by the best register tiles there are,
// and what it takes to widen or to copy their operands. Thread-safe.
#ifndef KIRSCH_COST_COMPUTE_BOUND_H_
#define KIRSCH_COST_COMPUTE_BOUND_H_

#include <array>
#include <cstdint>
#include <optional>

#include "cost/best_trips.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// All in cycles. Entries of as many microkernels as registers make necessary are part of each.
class ComputeBounds {
 public:
  // `target` must outlive the bounds.
  explicit ComputeBounds(const Target& target);

  // Products alone, as if nothing had to be widened or copied.
  double Products(const Spec& spec) const;

  // What lhs and rhs take at least, beside arithmetic, to come from where they are. A copy reads meanwhile.
  struct Brought {
    double lhs = 0, rhs = 0;
  };

  // Products with what their operands take: each is widened by loads, or copied once, if it still may be.
  // Beside `brought`.
  double ProductsAndCopies(const Spec& spec, const Brought& brought) const;

  // The same of an rhs of blocks, which is decoded at least once. With what rhs takes to be brought.
  double ProductsOfBlocks(const Spec& spec, double rhs_brought) const;

 private:
  // What products may be made of: rhs as it is, or what copies of it hold.
  enum class RhsOfProducts { kAsItIs, kDecoded, kAsItIsOrDecoded };
  // Calls body(arithmetic, RhsOfProducts) for each by which a program of the spec may multiply.
  template <typename Body>
  void ForEachArithmetic(const Spec& spec, const Body& body) const;

  // Least cycles of a copy to decode an element.
  double DecodingCycles(Dtype blocks) const;

  struct Sizes;
  struct Copies;
  struct Parts;
  double Entries(const Spec& spec, const Sizes& sizes) const;
  double Lanewise(const Sizes& sizes) const;
  double Products(const Spec& spec, const Sizes& sizes) const;
  double OuterProducts(const Sizes& sizes, Arithmetic arithmetic, const WidenedTypes& widened) const;
  double DotProducts(const Sizes& sizes, Arithmetic arithmetic, const WidenedTypes& widened) const;
  double PlainProducts(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic) const;
  double ProductsOfWindow(const Spec& spec, const Sizes& sizes, bool copies_lhs,
                          const Brought& brought) const;
  double BetweenStridedParts(const Spec& spec, const Sizes& sizes) const;
  double CopyCycles(const Spec& spec, int operand, Arithmetic arithmetic, double brought) const;
  Parts ProductsBy(const Spec& spec, const Sizes& sizes, Arithmetic arithmetic, const Copies& copies) const;
  Arithmetic BestArithmeticOf(Dtype lhs, Dtype rhs) const {
    return best_arithmetic_[static_cast<size_t>(lhs)][static_cast<size_t>(rhs)];
  }
  std::optional<Arithmetic> TileArithmeticOf(Dtype lhs, Dtype rhs) const {
    return tile_arithmetic_[static_cast<size_t>(lhs)][static_cast<size_t>(rhs)];
  }

  const Target& target_;
  BestTrips best_trips_;
  int narrow_bytes_ = 0;                                  // of a vector of the narrowest unit
  double tiles_per_byte_ = 0;                             // register tiles per byte of sums, at least
  double matrix_tiles_per_byte_ = 0;                      // the same where they may be a matrix unit's
  std::array<double, kDtypes.size()> halving_cycles_{};   // to add up the lanes of a sum, at least, by lhs
  std::array<double, kDtypes.size()> decoding_cycles_{};  // DecodingCycles, of types of blocks
  std::array<std::array<Arithmetic, kDtypes.size()>, kDtypes.size()> best_arithmetic_;
  std::array<std::array<std::optional<Arithmetic>, kDtypes.size()>, kDtypes.size()> tile_arithmetic_;
};

}  // namespace kirsch

#endif  // KIRSCH_COST_COMPUTE_BOUND_H_
