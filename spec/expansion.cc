// SPDX-License-Identifier: Apache-2.0
#include "spec/expansion.h"

#include <algorithm>

namespace kirsch {

Level FillingLevel(const Spec& spec) {
  Level fastest = Level::kRam;
  // Operands of the epilogue do not count.
  for (int operand = 0; operand <= spec.op_info().output(); ++operand) {
    const Level level = spec.tensor(operand).level;
    if (level != Level::kVrf) fastest = std::min(fastest, level);
  }
  return fastest;
}

}  // namespace kirsch
