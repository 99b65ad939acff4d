// The affine cost model: cost(node) = base(spec, decision) + sum over children of trips * cost(child).
// Bases are >= 0, so costs are monotone and dynamic programming over them is exact. See README.md.
// Thread-safe once constructed.
#ifndef KIRSCH_COST_COST_MODEL_H_
#define KIRSCH_COST_COST_MODEL_H_

#include <array>
#include <vector>

#include "cost/cost.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/microkernel.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

class CostModel {
 public:
  explicit CostModel(const Target& target);

  const Target& target() const { return target_; }

  // What the node costs beside its children.
  Cost Base(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // Cycles the copy of a pack takes, one made ahead too (which is no part of Base).
  double PackCycles(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // A lower bound of every program for `spec`, whatever the limits.
  Cost LowerBound(const Spec& spec) const;

  // A lower bound of what any program for `spec` costs more than it would with the operands at `slow` waiting
  // at `fast` instead.
  Cost SlowerLevelBound(const Spec& spec, Level slow, Level fast) const;

  // A lower bound of what any program for `spec` costs more than it would without the epilogue.
  Cost EpilogueBound(const Spec& spec) const;

  // Cycles the arithmetic takes at least, every operand in L1 (part of LowerBound).
  double ComputeBound(const Spec& spec) const;

  // Cycles to bring these lines from `transfer.from` to the core and back, none of it hidden.
  double TransferCycles(const Transfer& transfer, int sharers) const;

 private:
  struct Exposure {
    double total = 0;    // cycles of all transfers
    double exposed = 0;  // the part that never hides behind arithmetic
    double below = 0;    // that the same lines take from where they are brought to
  };
  int64_t CompulsoryLines(const Spec& spec, int operand) const;
  Exposure Compulsory(const Spec& spec, int operand, int64_t lines, Level from) const;
  Exposure Compulsory(const Spec& spec, int operand, Level from) const;
  double OutputBound(const Spec& spec) const;
  double LateShare(const Transfer& transfer) const;
  double UnstreamedCycles(const Transfer& transfer) const;
  double StreamingCycles(const Transfer& transfer) const;
  Exposure ExposureOf(const Transfer& transfer, int sharers) const;
  Exposure ExposureOf(const Spec& spec, const Expansion& expansion) const;
  double OverrunCycles(const Spec& spec, const Expansion& expansion) const;
  double EvictedCycles(const Spec& spec, const Expansion& expansion) const;
  double FarLinesCycles(const Spec& spec, const Footprint& rhs, const VectorUnit& unit) const;
  double BesideRhsCycles(const Spec& spec, const Expansion& expansion) const;
  double CutPanelsCycles(const Spec& spec, const Expansion& expansion) const;
  double RegisterTileBase(const Spec& spec, const Decision& decision) const;
  double LanewiseBound(const Spec& spec) const;
  double ArithmeticBound(const Spec& spec, Arithmetic arithmetic) const;
  double EntriesBound(const Spec& spec) const;
  double HidingPlace(const Spec& spec, int operand) const;
  double BesideTiles(const Spec& spec, const Decision& decision) const;
  // What products may be made of: rhs as it is, or what copies of it hold.
  enum class RhsOfProducts { kAsItIs, kDecoded, kAsItIsOrDecoded };
  // Calls body(arithmetic, RhsOfProducts) for each by which a program of the spec may multiply.
  template <typename Body>
  void ForEachArithmetic(const Spec& spec, const Body& body) const;
  double RhsOfBlocksBound(const Spec& spec) const;

  // Enough for any register tile: 31 of the widest vectors, each of up to 4 narrow ones.
  static constexpr int kRows = 32, kVectors = 128;
  Target target_;
  // Least cycles per output element and step of the reduction, over all register tiles of at most r rows and
  // v vectors of the narrowest unit (outer product), or r rows and v columns (dot product).
  struct BestTrips {
    std::array<std::array<double, kVectors + 1>, kRows + 1> outer, dot;
  };
  void FillBestTrips(Arithmetic arithmetic, BestTrips* best_trips) const;
  // Of a type of blocks, least cycles to decode an element: in a copy, or for a microkernel of some
  // arithmetic, whose multiply-add units take it beside their products.
  struct Decoding {
    double copied = 0;
    std::array<double, kNumArithmetics> in_registers{};
  };
  void FillDecoding(Dtype dtype, Decoding* decoding) const;

  std::array<BestTrips, kNumArithmetics> best_trips_;
  std::array<double, kNumArithmetics> multiply_cycles_;  // per point of the iteration space, by the units
  std::array<Decoding, kDtypes.size()> decoding_;
  Arithmetic BestArithmeticOf(Dtype lhs, Dtype rhs) const {
    return best_arithmetic_[static_cast<size_t>(lhs)][static_cast<size_t>(rhs)];
  }

  std::array<std::array<Arithmetic, kDtypes.size()>, kDtypes.size()> best_arithmetic_;
  int narrow_lanes_ = 0;
  double tiles_per_element_ = 0;       // register tiles per output element, at least
  double cycles_per_output_read_ = 0;  // per element, best unit
  double cycles_per_output_write_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_COST_COST_MODEL_H_
