// SPDX-License-Identifier: Apache-2.0
// Reads and prints the options of a convolution, in one form for the shorthand and the kernel language.
//
//   conv2d f32 1x64x56x56 filters=64 kernel=3x3 stride=2 pad=1            a shorthand
//   conv2d(image, filters, stride=2, pad=1,1,0,0, layout=nhwc)            a value of the kernel language
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

// The options' names, in the order in which they are printed.
inline constexpr std::array<std::string_view, 5> kConvolutionOptions = {"stride", "pad", "dilation", "groups",
                                                                        "layout"};
inline constexpr std::string_view kPadOption = kConvolutionOptions[1], kGroupsOption = kConvolutionOptions[3];

// Those that a convolution has, in the same order: a transposed one has no groups.
std::vector<std::string_view> OptionsOfConvolution(bool transposed);

// The last `count` of the axes depth, height and width: those that images with so many axes have.
template <typename Axes>
auto AxesOf(Axes& axes, size_t count) {
  return absl::MakeSpan(axes).last(count);
}

// One member of each axis, in their order: the strides, for example.
template <typename Axis>
std::vector<uint32_t> Along(absl::Span<const Axis> axes, uint32_t Axis::* member) {
  std::vector<uint32_t> numbers;
  for (const Axis& axis : axes) numbers.push_back(axis.*member);
  return numbers;
}

// One option, printed.
//
//   strides, dilations   one number for all axes, or "2x1" as sizes are written
//   pads                 one number for all sides, or those before each axis, then those behind: "1,0,2,0"
struct OptionText {
  std::string_view name;
  std::string value;
  bool usual;  // it need not be said
};
// All options of an image with so many axes. Their order is that of kConvolutionOptions. Those that a
// transposed convolution does not have are left out if it is one.
std::vector<OptionText> PrintOptions(const ConvolutionOptions& options, size_t axes, bool transposed = false);

// Sets the option `name`, one of kConvolutionOptions, for images with so many axes. `values` has one word; of
// pads as many as there are. Errors have the place of a word in `source`.
absl::Status ParseConvolutionOption(std::string_view source, std::string_view name,
                                    absl::Span<const Word> values, size_t axes, ConvolutionOptions* options);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_OPTIONS_H_
