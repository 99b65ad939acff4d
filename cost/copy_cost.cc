// SPDX-License-Identifier: Apache-2.0
#include "cost/copy_cost.h"

#include <algorithm>
#include <cmath>

#include "spec/block.h"

namespace kirsch {
namespace {

// Loads from L1 are instructions, which are counted elsewhere.
double LineCycles(Level level, const Target& target) {
  return level <= Level::kL1 ? 0 : target.at(level).cycles_per_line;
}

int64_t ElementsRead(const CopyShape& copy) { return copy.rows() * copy.width; }
int64_t ElementsWritten(const CopyShape& copy) { return copy.padded_elements(); }

// Instructions of copies for a vector: a plain one; one that decodes blocks and rounds to bf16; one that
// gives codes 8 bits; one that makes q8 of f32. Cycles are in proportion.
constexpr double kPlainCopy = 3, kRounding = 9, kRecoding = 6, kEncoding = 12;

// In a copy of a window: one element, where they are apart; parting the elements of two vectors; starting a
// run.
constexpr double kElementCycles = 1, kDeinterleaveCycles = 2, kRunCycles = 1;

// The runs of a window's inner dim.
struct Runs {
  double elements, lanes, per_vector;  // of a run; of a vector; cycles
  bool apart;                          // elements that no vector reads
};

// A stride of 2 reads two vectors for one; a larger one reads element by element.
Runs RunsOf(const Spec& spec, int operand, double per_element, const VectorUnit& unit) {
  const auto lanes = static_cast<double>(unit.bytes / Bytes(spec.tensor(operand).dtype));
  const DigitAxis& inner = *WindowAxis(spec, InnerDim(spec, operand));
  const double elements =
      inner.digits > 1 ? inner.digit[0].count : static_cast<double>(ExtentOf(spec, operand).inner);
  return {elements, lanes, per_element * lanes + (inner.stride(0) == 2 ? kDeinterleaveCycles : 0),
          inner.stride(0) > 2};
}

}  // namespace

double DecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit) {
  const Dtype decoded = DecodedFor(to, from);
  return WideningInstructions(from, decoded) / kPlainCopy * unit.widening_of(from).copy /
         (unit.bytes / Bytes(decoded));
}

double RecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit) {
  const bool rounds = to == Dtype::kBf16 && !Holds(to, from);
  const double instructions = rounds ? kRounding : IsInPanels(to) ? kRecoding : 0;
  return instructions / kPlainCopy * unit.widening_of(from).copy / unit.lanes(Dtype::kF32);
}

double ConvertingInCopies(Dtype from, Dtype to, const VectorUnit& unit) {
  return (IsRounded(to) ? kEncoding / kPlainCopy : 1) * unit.widening_of(from).copy / unit.lanes(Dtype::kF32);
}

double WindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit) {
  const Runs runs = RunsOf(spec, operand, per_element, unit);
  if (runs.apart) return kElementCycles;
  return (std::ceil(runs.elements / runs.lanes) * runs.per_vector + kRunCycles) / runs.elements;
}

// A part of a run has vectors that are no fuller, and starts as a whole run does.
double LeastWindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit) {
  const Runs runs = RunsOf(spec, operand, per_element, unit);
  if (runs.apart) return kElementCycles;
  return runs.per_vector / std::min(runs.lanes, runs.elements) + kRunCycles / runs.elements;
}

double ReadCycles(int64_t bytes, Level level, const Target& target) {
  return static_cast<double>(bytes) / target.line_bytes * LineCycles(level, target);
}

Traffic CopyTraffic(const CopyShape& copy, Level from, Level to) {
  Traffic traffic;
  traffic.Add(from, Level::kVrf, static_cast<double>(ElementsRead(copy) * Bytes(copy.dtype)), 0);
  traffic.Add(to, Level::kVrf, 0, static_cast<double>(ElementsWritten(copy) * Bytes(copy.dtype)));
  return traffic;
}

double SquareCycles(int bytes, const VectorUnit& unit) {
  return bytes >= kWordBytes ? unit.transpose_cycles * bytes / kWordBytes
                             : std::max(unit.transpose_cycles, kSmallSquareCycles);
}

double CopyCycles(const CopyShape& copy, bool transposes, Level from, Level to, const Target& target) {
  const double bytes = Bytes(copy.dtype);
  const auto read = static_cast<double>(ElementsRead(copy));
  const auto written = static_cast<double>(ElementsWritten(copy));
  const VectorUnit& unit = target.vectors.front();
  const double per_vector = unit.bytes / bytes;
  const double instructions = transposes ? read * SquareCycles(Bytes(copy.dtype), unit)
                                         : std::max(read / per_vector / unit.loads_per_cycle,
                                                    written / per_vector / unit.stores_per_cycle);
  const double lines = ReadCycles(static_cast<int64_t>(read * bytes), from, target) +
                       written * bytes / target.line_bytes * LineCycles(to, target) *
                           (to <= Level::kL1 ? 1 : target.at(to).write_factor);
  const auto rows = static_cast<double>(copy.rows());
  return rows * target.loop_cycles + std::max(instructions, lines);
}

}  // namespace kirsch
