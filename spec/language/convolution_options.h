// SPDX-License-Identifier: Apache-2.0
// The options of a convolution as text: one form for the shorthand and the kernel language.
#ifndef KIRSCH_SPEC_LANGUAGE_CONVOLUTION_OPTIONS_H_
#define KIRSCH_SPEC_LANGUAGE_CONVOLUTION_OPTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "spec/graph/graph.h"
#include "spec/text/text.h"

namespace kirsch {

inline constexpr std::array<std::string_view, 5> kConvolutionOptions = {"stride", "pad", "dilation", "groups",
                                                                        "layout"};
inline constexpr std::string_view kPadOption = kConvolutionOptions[1];

// Those of the axes that images of `count` axes have.
template <typename Axes>
auto AxesOf(Axes& axes, size_t count) {
  return absl::MakeSpan(axes).last(count);
}

// A number of each.
template <typename Axis>
std::vector<uint32_t> Along(absl::Span<const Axis> axes, uint32_t Axis::* member) {
  std::vector<uint32_t> numbers;
  for (const Axis& axis : axes) numbers.push_back(axis.*member);
  return numbers;
}

// Of images with so many axes. Strides and dilations: one number for all axes, or "2x1" as their sizes are
// written. Pads: one number for all sides, or those before each axis, then those behind each, as "1,0,2,0".
struct OptionText {
  std::string_view name;
  std::string value;
  bool usual;  // it need not be said
};
std::vector<OptionText> PrintOptions(const ConvolutionOptions& options, size_t axes);

// Sets the option `name`, one of kConvolutionOptions. `values`: one word; of pads as many as there are.
absl::Status ParseConvolutionOption(std::string_view source, std::string_view name,
                                    absl::Span<const Word> values, size_t axes, ConvolutionOptions* options);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_OPTIONS_H_
