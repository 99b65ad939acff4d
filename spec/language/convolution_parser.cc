// SPDX-License-Identifier: Apache-2.0
#include "spec/language/convolution_parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "spec/check.h"
#include "spec/graph/epilogue_operations.h"
#include "spec/graph/types.h"
#include "spec/language/convolution_request.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/shorthand.h"
#include "spec/language/types_parser.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

constexpr std::string_view kFilters = "filters", kKernel = "kernel", kStride = "stride", kPad = "pad",
                           kDilation = "dilation", kGroups = "groups", kLayout = "layout";
constexpr std::array kValued = {kFilters, kKernel, kStride, kPad, kDilation, kGroups, kLayout, kEpilogueWord};
constexpr std::array kFlags = {kAccumulateWord, kConstantFiltersWord, kFixedOrderWord};

class ConvolutionParser {
 public:
  explicit ConvolutionParser(ShorthandWords& words) : words_(words) {}

  absl::StatusOr<ShorthandKernel> Parse() {
    absl::Status status = ParseSizes();
    if (status.ok()) status = ParseOptions();
    if (status.ok()) status = ParseEpilogueSteps();
    if (status.ok()) status = CheckSizes();
    if (!status.ok()) return status;
    const std::string text = PrintConvolution(asked_);
    ShorthandKernel kernel{text, MakeSpec(), MakeGraph(MakeIdentifier(text))};
    // Of two reasons the one why it is not what was asked for.
    if (!kernel.spec.ok() && !kernel.graph.ok())
      return IsGraph() ? kernel.graph.status() : kernel.spec.status();
    return kernel;
  }

 private:
  // Types and the image's sizes.
  absl::Status ParseSizes() {
    types_word_ = words_.Take();
    absl::StatusOr<MatmulTypes> types = ParseTypes(words_.source(), types_word_);
    if (!types.ok()) return types.status();
    asked_.types = *types;
    sizes_word_ = words_.Take();
    if (Split(sizes_word_, 'x').size() != 4)
      return words_.Expected(sizes_word_, "the input's sizes as IMAGESxCHANNELSxHEIGHTxWIDTH");
    const absl::StatusOr<std::vector<uint32_t>> sizes = words_.Sizes(sizes_word_, 4, 4);
    if (!sizes.ok()) return sizes.status();
    asked_.images = (*sizes)[0];
    asked_.channels = (*sizes)[1];
    asked_.height = (*sizes)[2];
    asked_.width = (*sizes)[3];
    return absl::OkStatus();
  }

  absl::Status ParseOptions() {
    if (absl::Status status = words_.TakeOptions(kValued, kFlags); !status.ok()) return status;
    absl::StatusOr<uint32_t> filters = words_.SizeOption(kFilters);
    if (!filters.ok()) return filters.status();
    asked_.filters = *filters;
    if (!words_.Has(kKernel)) return words_.Expected(words_.Peek(), "kernel=HxW");
    const Word& kernel = words_.Value(kKernel);
    if (Split(kernel, 'x').size() != 2) return words_.Expected(kernel, "a kernel's sizes as HEIGHTxWIDTH");
    const absl::StatusOr<std::vector<uint32_t>> sides = words_.Sizes(kernel, 2, 2);
    if (!sides.ok()) return sides.status();
    asked_.kernel_height = (*sides)[0];
    asked_.kernel_width = (*sides)[1];
    ConvolutionOptions& options = asked_.options;
    const std::array<std::pair<std::string_view, uint32_t*>, 3> numbers = {
        {{kStride, &options.stride}, {kDilation, &options.dilation}, {kGroups, &options.groups}}};
    for (const auto& [name, to] : numbers) {
      absl::StatusOr<uint32_t> number = words_.Number(name, 1, kMaxSide, 1);
      if (!number.ok()) return number.status();
      *to = *number;
    }
    if (words_.Has(kPad)) {
      absl::StatusOr<Padding> pad = ParsePadding(words_.source(), Split(words_.Value(kPad), ','));
      if (!pad.ok()) return pad.status();
      options.pad = *pad;
    }
    if (words_.Has(kLayout)) {
      const absl::StatusOr<size_t> layout = words_.Choice(words_.Value(kLayout), kImageLayouts, "a layout");
      if (!layout.ok()) return layout.status();
      options.layout = static_cast<ImageLayout>(*layout);
    }
    asked_.accumulate = words_.Has(kAccumulateWord);
    asked_.constant_filters = words_.Has(kConstantFiltersWord);
    asked_.fixed_order = words_.Has(kFixedOrderWord);
    return absl::OkStatus();
  }

  absl::Status ParseEpilogueSteps() {
    const MatmulTypes& types = asked_.types;
    if (words_.Has(kEpilogueWord)) {
      absl::StatusOr<Epilogue> epilogue =
          ParseEpilogue(words_.source(), words_.Value(kEpilogueWord), AccumulatorOf(types.lhs));
      if (!epilogue.ok()) return epilogue.status();
      asked_.epilogue = *epilogue;
    }
    const absl::Status status = CheckTypes(words_.source(), types_word_, types, asked_.epilogue);
    return status.ok() && asked_.accumulate ? CheckAccumulation(words_.source(), types_word_, types) : status;
  }

  // What is wrong with it whether it becomes a spec or a graph.
  absl::Status CheckSizes() const {
    const ConvolutionOptions& options = asked_.options;
    if (asked_.channels % options.groups != 0)
      return words_.Expected(words_.Value(kGroups),
                             Cat("a divisor of the image's ", asked_.channels, " channels"));
    if (asked_.filters % options.groups != 0)
      return words_.Expected(words_.Value(kGroups), Cat("a divisor of the ", asked_.filters, " filters"));
    const Padding& pad = options.pad;
    const uint64_t height = uint64_t{asked_.height} + pad.top + pad.bottom,
                   width = uint64_t{asked_.width} + pad.left + pad.right;
    const auto window = [&](uint32_t side) { return uint64_t{side - 1} * options.dilation + 1; };
    if (window(asked_.kernel_height) > height || window(asked_.kernel_width) > width)
      return words_.Expected(words_.Value(kKernel), "a kernel that fits the padded image");
    return absl::OkStatus();
  }

  bool IsGraph() const {
    return asked_.types.lhs == Dtype::kF32 && asked_.types.rhs == Dtype::kF32 && !asked_.accumulate &&
           !asked_.fixed_order && IsGraphEpilogue(asked_.epilogue);
  }

  absl::StatusOr<ParsedSpec> MakeSpec() const {
    constexpr const char* kGraphsOnly = " (else it is of f32, without accumulate and fixed-order)";
    switch (asked_.limit()) {
      case ConvolutionLimit::kNone:
        return AsSpec(asked_);
      case ConvolutionLimit::kPad:
        return words_.Expected(words_.Value(kPad), Cat("pad=0", kGraphsOnly));
      case ConvolutionLimit::kGroups:
        return words_.Expected(words_.Value(kGroups), Cat("groups=1", kGraphsOnly));
      case ConvolutionLimit::kImages:
        return words_.Expected(sizes_word_, Cat("a single image with layout=nchw", kGraphsOnly));
      case ConvolutionLimit::kSides:
        return words_.Expected(sizes_word_, Cat("at most ", kMaxSide, " pixels in out and terms in a sum"));
      case ConvolutionLimit::kElements:
        return words_.Expected(sizes_word_, Cat("at most ", kMaxElements, " elements in out"));
    }
    KIRSCH_CHECK(false);
    return absl::InternalError("");
  }

  absl::StatusOr<Graph> MakeGraph(std::string name) const {
    if (!IsGraph())
      return words_.Expected(types_word_, "f32, without accumulate, fixed-order and leaky_relu by a tensor");
    GraphBuilder builder(std::move(name), words_.source(), words_.Value(kKernel).position);
    GraphNode node = OperationNode(Operation::kConv2d);
    node.conv = asked_.options;
    node.inputs = {
        builder.Parameter(kImageName, Dtype::kF32, asked_.image_dims()),
        builder.Parameter(kFiltersName, Dtype::kF32, asked_.filters_dims(), asked_.constant_filters)};
    const ConvolutionSizes sizes = SizesOfConvolution(builder.graph(), node);
    const EpilogueShapes shapes = asked_.output_shapes(sizes.out_height, sizes.out_width);
    const Epilogue& epilogue = asked_.epilogue;
    const std::vector<int> parameters = AddEpilogueParameters(epilogue, Dtype::kF32, shapes, &builder);
    const int sums = builder.Add(std::move(node));
    const int result = AddEpilogueSteps(epilogue, Dtype::kF32, asked_.types.out, sums, parameters, &builder);
    return std::move(builder).Build(result);
  }

  ShorthandWords& words_;
  Word types_word_, sizes_word_;
  ConvolutionRequest asked_;
};

}  // namespace

absl::StatusOr<ShorthandKernel> ParseConvolution(ShorthandWords& words) {
  return ConvolutionParser(words).Parse();
}

absl::StatusOr<Padding> ParsePadding(std::string_view source, absl::Span<const Word> sides) {
  Padding pad;
  const std::array<uint32_t*, 4> to = {&pad.top, &pad.left, &pad.bottom, &pad.right};
  if (sides.size() != 1 && sides.size() != to.size())
    return ExpectedAt(source, sides.back(), "one pad for all sides, or those of top,left,bottom,right");
  for (size_t i = 0; i < to.size(); ++i) {
    absl::StatusOr<uint32_t> number =
        ParseNumber(source, sides[sides.size() == 1 ? 0 : i], "pad", 0, kMaxPad);
    if (!number.ok()) return number.status();
    *to[i] = *number;
  }
  return pad;
}

}  // namespace kirsch
