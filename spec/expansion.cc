// SPDX-License-Identifier: Apache-2.0
#include "spec/expansion.h"

#include <algorithm>

#include "absl/types/span.h"

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
  const auto children =
      absl::MakeConstSpan(expansion.children).first(static_cast<size_t>(expansion.num_children));
  const auto most = std::ranges::max_element(children, {}, [](const Expansion::Child& child) {
    return static_cast<double>(child.weight) * Flops(child.spec);
  });
  return static_cast<size_t>(most - children.begin());
}

}  // namespace kirsch
