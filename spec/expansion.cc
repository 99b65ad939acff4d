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

size_t MainChild(const Expansion& expansion) {
  size_t most = 0;
  const auto work = [&](size_t i) {
    return static_cast<double>(expansion.children[i].weight) * Flops(expansion.children[i].spec);
  };
  for (size_t i = 1; i < static_cast<size_t>(expansion.num_children); ++i)
    if (work(i) > work(most)) most = i;
  return most;
}

}  // namespace kirsch
