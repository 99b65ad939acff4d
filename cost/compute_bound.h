// SPDX-License-Identifier: Apache-2.0
// Bounds from below the cycles of arithmetic, whatever the tiles: products by the best register tiles there
// are, and the cycles to widen or to copy their operands. The search cuts off what cannot be cheaper.
// Thread-safe.
//
//   matmul f32 96x512x512, 1/32 of a cycle for each product at best (best_trips.h):
//     96 * 512 * 512 / 32 = 786432 cycles, and the entries of the microkernels
#ifndef KIRSCH_COST_COMPUTE_BOUND_H_
#define KIRSCH_COST_COMPUTE_BOUND_H_

#include <array>
#include <cstdint>
#include <optional>

#include "cost/best_trips.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// All bounds are in cycles. Each includes the entries of as many microkernels as registers make necessary.
class ComputeBounds {
 public:
  // `target` must outlive the bounds.
  explicit ComputeBounds(const Target& target);

  // Bounds the products alone, as if nothing had to be widened or copied.
  double Products(const Spec& spec) const;

  // The least cycles, beside arithmetic, that lhs and rhs take to come from where they are. A copy reads
  // meanwhile, so it costs only what is beyond that.
  struct Brought {
    double lhs = 0, rhs = 0;
  };

  // Bounds products with their operands: each operand is widened by loads, in every product, or copied once,
  // if it still may be. What is `brought` is not in it.
  double ProductsAndCopies(const Spec& spec, const Brought& brought) const;

  // Bounds the same for an rhs of blocks, which is decoded at least once. Here the cycles to bring rhs are
  // included.
  double ProductsOfBlocks(const Spec& spec, double rhs_brought) const;

 private:
  // What products may be made of: rhs as it is, the numbers that copies of it hold, or either.
  enum class RhsOfProducts { kAsItIs, kDecoded, kAsItIsOrDecoded };
  // Calls body(arithmetic, RhsOfProducts) for each by which a program of the spec may multiply. A bound is
  // the least over all of them.
  template <typename Body>
  void ForEachArithmetic(const Spec& spec, const Body& body) const;

  // Returns the least cycles of a copy to decode an element.
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
