// SPDX-License-Identifier: Apache-2.0
#include "spec/language/along_axis_options.h"

#include "spec/graph/types.h"
#include "spec/spec.h"

namespace kirsch {
namespace {

constexpr auto kSide = static_cast<uint32_t>(kMaxSide);

constexpr AlongAxisOption kFrom = {"from", 0, kSide,
                                   [](AlongAxis& along) -> uint32_t& { return along.from; }};
constexpr AlongAxisOption kTo = {"to", 1, kSide, [](AlongAxis& along) -> uint32_t& { return along.to; }};
constexpr AlongAxisOption kSize = {"size", 1, kMaxWindow,
                                   [](AlongAxis& along) -> uint32_t& { return along.size; }};
constexpr AlongAxisOption kStride = {"stride", 1, kSide,
                                     [](AlongAxis& along) -> uint32_t& { return along.steps.stride; }};
constexpr AlongAxisOption kStep = {"step", 1, kSide, kStride.of};
constexpr AlongAxisOption kDilation = {"dilation", 1, kSide,
                                       [](AlongAxis& along) -> uint32_t& { return along.steps.dilation; }};
constexpr AlongAxisOption kBefore = {"before", 0, kSide,
                                     [](AlongAxis& along) -> uint32_t& { return along.steps.before; }};
constexpr AlongAxisOption kAfter = {"after", 0, kSide,
                                    [](AlongAxis& along) -> uint32_t& { return along.steps.after; }};

}  // namespace

std::vector<AlongAxisOption> AlongAxisOptionsOf(Operation op) {
  if (op == Operation::kSlice) return {kFrom, kTo, kStep};
  if (op == Operation::kPad) return {kBefore, kAfter};
  if (IsWindow(op)) return {kSize, kStride, kDilation, kBefore, kAfter};
  return {};
}

}  // namespace kirsch
