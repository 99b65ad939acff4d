// SPDX-License-Identifier: Apache-2.0
#include "spec/language/convolution_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "spec/graph/types.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using Member = uint32_t AxisOptions::*;

// One number stands for all if all are the same.
std::string PrintNumbers(const std::vector<uint32_t>& numbers, const char* sign) {
  const bool same = std::equal(numbers.begin() + 1, numbers.end(), numbers.begin());
  return same ? Cat(numbers.front()) : Join(numbers, sign);
}

OptionText PrintAlong(std::string_view name, absl::Span<const AxisOptions> axes, Member member) {
  const std::string text = PrintNumbers(Along(axes, member), "x");
  return {name, text, text == "1"};
}

// An image of height and width has its pads in the order top, left, bottom, right: before both axes, behind
// both.
OptionText PrintPads(std::string_view name, absl::Span<const AxisOptions> axes) {
  std::vector<uint32_t> pads = Along(axes, &AxisOptions::before), after = Along(axes, &AxisOptions::after);
  pads.insert(pads.end(), after.begin(), after.end());
  const std::string text = PrintNumbers(pads, ",");
  return {name, text, text == "0"};
}

// Sets `member` of every axis from "2" or "2x1".
absl::Status ParseAlong(std::string_view source, std::string_view name, const Word& value, Member member,
                        absl::Span<AxisOptions> axes) {
  const std::vector<Word> numbers = Split(value, 'x');
  if (numbers.size() != 1 && numbers.size() != axes.size())
    return ExpectedAt(source, value,
                      axes.size() == 1 ? std::string("one number, as images have one axis")
                                       : Cat("one ", name, " for all axes, or ", axes.size(), " as in ",
                                             Join(std::vector<int>(axes.size(), 1), "x")));
  for (size_t i = 0; i < axes.size(); ++i) {
    KIRSCH_ASSIGN_OR_RETURN(axes[i].*member,
                            ParseNumber(source, numbers[numbers.size() == 1 ? 0 : i], name, 1, kMaxSide));
  }
  return absl::OkStatus();
}

// Sets the pads of every axis from one word for all sides, or a word for each.
absl::Status ParsePads(std::string_view source, absl::Span<const Word> sides, absl::Span<AxisOptions> axes) {
  constexpr std::array<std::string_view, ImageAxes::kCount> kSides = {"left,right", "top,left,bottom,right",
                                                                      "front,top,left,back,bottom,right"};
  if (sides.size() != 1 && sides.size() != 2 * axes.size())
    return ExpectedAt(source, sides.back(),
                      Cat("one pad for all sides, or those of ", kSides[axes.size() - 1]));
  for (size_t i = 0; i < 2 * axes.size(); ++i) {
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t number,
                            ParseNumber(source, sides[sides.size() == 1 ? 0 : i], kPadOption, 0, kMaxPad));
    // The first half of the words are for what is before each axis, the second half for what is behind.
    AxisOptions& axis = axes[i % axes.size()];
    (i < axes.size() ? axis.before : axis.after) = number;
  }
  return absl::OkStatus();
}

absl::Status ParseLayout(std::string_view source, const Word& value, size_t axes, ImageLayout* layout) {
  const auto& names = kImageLayouts[axes - 1];
  const auto found = std::ranges::find(names, value.text);
  if (found == names.end())
    return ExpectedAt(source, value, Cat("a layout (", Join(names, "|"), ")"), DidYouMean(value.text, names));
  *layout = static_cast<ImageLayout>(found - names.begin());
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string_view> OptionsOfConvolution(bool transposed) {
  std::vector<std::string_view> names(kConvolutionOptions.begin(), kConvolutionOptions.end());
  if (transposed) std::erase(names, kGroupsOption);
  return names;
}

std::vector<OptionText> PrintOptions(const ConvolutionOptions& options, size_t axes, bool transposed) {
  const auto& [stride, pad, dilation, groups, layout] = kConvolutionOptions;
  const auto own = AxesOf(options.axes, axes);
  std::vector<OptionText> all = {
      PrintAlong(stride, own, &AxisOptions::stride),
      PrintPads(pad, own),
      PrintAlong(dilation, own, &AxisOptions::dilation),
      {groups, Cat(options.groups), options.groups == 1},
      {layout, std::string(kImageLayouts[axes - 1][static_cast<size_t>(options.layout)]), false}};
  if (transposed) std::erase_if(all, [](const OptionText& option) { return option.name == kGroupsOption; });
  return all;
}

absl::Status ParseConvolutionOption(std::string_view source, std::string_view name,
                                    absl::Span<const Word> values, size_t axes, ConvolutionOptions* options) {
  const auto& [stride, pad, dilation, groups, layout] = kConvolutionOptions;
  const auto own = AxesOf(options->axes, axes);
  const Word& value = values.front();
  if (name == stride) return ParseAlong(source, name, value, &AxisOptions::stride, own);
  if (name == dilation) return ParseAlong(source, name, value, &AxisOptions::dilation, own);
  if (name == pad) return ParsePads(source, values, own);
  if (name == layout) return ParseLayout(source, value, axes, &options->layout);
  const absl::StatusOr<uint32_t> number = ParseNumber(source, value, groups, 1, kMaxSide);
  if (number.ok()) options->groups = *number;
  return number.status();
}

}  // namespace kirsch
