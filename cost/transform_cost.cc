// SPDX-License-Identifier: Apache-2.0
#include "cost/transform_cost.h"

#include <algorithm>

#include "cost/vector_math_cost.h"
#include "spec/graph/epilogue_program.h"
#include "spec/graph/row_passes.h"

namespace kirsch {
namespace {

// Prices one transform stage, and adds up its traffic on the way.
class TransformCost {
 public:
  TransformCost(const TransformShape& shape, const Target& target)
      : shape_(shape), target_(target), unit_(target.vectors.front()) {}

  const Traffic& traffic() const { return traffic_; }

  // Returns the cycles of the whole stage; to be called once.
  double Cycles(const std::vector<Level>& levels) {
    const bool out = shape_.stores_image();
    const int window = shape_.window() * shape_.window(), matmuls = WinogradMatmuls(shape_.tile);
    // A square of the image on one side, the elements of a transformed square on the other.
    const int loads = out ? matmuls : window, stores = out ? window : matmuls;
    double loaded = loads,
           computed = shape_.map().Operations() * (shape_.map().inputs() + shape_.map().outputs());
    // The epilogue computes each output, and loads its operands.
    const RowProgram epilogue = RowProgramOf(shape_.epilogue, Dtype::kF32, shape_.stored);
    computed += window * WorkOf(epilogue, ComputedValues(epilogue), unit_).instructions;
    for (size_t input = 1; input < epilogue.inputs.size(); ++input) {
      loaded += window;
      const RowInput& operand = epilogue.inputs[input];
      if (operand.along_columns && operand.along_rows) AddLines(Pixels(), levels[1 + input], false);
    }
    // Elements of a transformed square that find no register are stored and loaded again.
    const double spilled = std::max(0, matmuls - unit_.registers);
    loaded += spilled;
    const double stored = stores + spilled;
    const double per_vector =
        std::max({computed / unit_.fma_per_cycle, loaded / unit_.loads_per_cycle,
                  stored / unit_.stores_per_cycle, (computed + loaded + stored) / target_.issue_width});
    const auto runs = static_cast<double>(shape_.squares() * shape_.rows);
    const int lanes = unit_.lanes(Dtype::kF32);
    compute_ =
        runs * (static_cast<double>((shape_.columns + lanes - 1) / lanes) * per_vector + target_.loop_cycles);
    const auto transformed = static_cast<double>(shape_.transformed());
    AddLines(out ? transformed : Pixels(), levels[0], false);
    AddLines(out ? Pixels() : transformed, levels[1], true);
    return compute_ + Waited();
  }

 private:
  // Numbers in the image.
  double Pixels() const {
    return static_cast<double>(shape_.axes[0].inside * shape_.axes[1].inside * shape_.rows * shape_.columns);
  }

  // Adds lines between a level and the core. What is stored is fetched first, which its factor has.
  void AddLines(double elements, Level level, bool stored) {
    const double bytes = elements * Bytes(Dtype::kF32), lines = bytes / target_.line_bytes;
    traffic_.Add(level, Level::kVrf, bytes, stored ? bytes : 0);
    if (level > Level::kL1)
      lines_[static_cast<size_t>(level)] += lines * (stored ? target_.at(level).write_factor : 1);
  }

  // Returns the cycles of transfers that don't hide behind the instructions.
  double Waited() const {
    double waited = 0;
    for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
      const MemoryLevel& memory = target_.at(level);
      const double transfers = lines_[static_cast<size_t>(level)] * memory.cycles_per_line;
      waited += transfers - memory.overlap * std::min(transfers, compute_);
    }
    return waited;
  }

  const TransformShape& shape_;
  const Target& target_;
  const VectorUnit& unit_;
  double compute_ = 0;
  std::array<double, kNumLevels> lines_ = {};
  Traffic traffic_;
};

}  // namespace

double TransformCycles(const TransformShape& shape, const std::vector<Level>& levels, const Target& target) {
  return TransformCost(shape, target).Cycles(levels);
}

Traffic TransformTraffic(const TransformShape& shape, const std::vector<Level>& levels,
                         const Target& target) {
  TransformCost cost(shape, target);
  cost.Cycles(levels);
  return cost.traffic();
}

}  // namespace kirsch
