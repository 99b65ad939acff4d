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
#include "spec/language/convolution_options.h"
#include "spec/language/convolution_request.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/shorthand.h"
#include "spec/language/types_parser.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr std::string_view kFilters = "filters", kKernel = "kernel", kGroups = kGroupsOption;
// The options that have a value: these two, those that the kernel language has as well, and the epilogue.
constexpr auto kValued = [] {
  std::array<std::string_view, kConvolutionOptions.size() + 3> names = {kFilters, kKernel};
  std::ranges::copy(kConvolutionOptions, names.begin() + 2);
  names.back() = kEpilogueWord;
  return names;
}();
constexpr std::array kFlags = {kAccumulateWord, kConstantFiltersWord, kFixedOrderWord};
constexpr std::array kTransposedFlags = {kConstantFiltersWord};

// Collects what is asked for in a ConvolutionRequest, from which both forms of a kernel are made.
class ConvolutionParser {
 public:
  ConvolutionParser(Operation op, ShorthandWords& words) : words_(words) { asked_.op = op; }

  // Sizes come before options, since the number of axes follows from the operation. What concerns several
  // words is checked when all are read.
  absl::StatusOr<ShorthandKernel> Parse() {
    absl::Status status = ParseSizes();
    if (status.ok()) status = ParseOptions();
    if (status.ok()) status = ParseEpilogueSteps();
    if (status.ok()) status = CheckSizes();
    if (!status.ok()) return status;
    const std::string text = PrintConvolution(asked_);
    ShorthandKernel kernel{text, MakeSpec(), MakeGraph(MakeIdentifier(text))};
    // There are two reasons then. The one counts that is about what the user asked for: of f32 it is a graph.
    if (!kernel.spec.ok() && !kernel.graph.ok())
      return IsGraph() || asked_.transposed() ? kernel.graph.status() : kernel.spec.status();
    return kernel;
  }

 private:
  // Types and the image's sizes.
  absl::Status ParseSizes() {
    types_word_ = words_.Take();
    KIRSCH_ASSIGN_OR_RETURN(asked_.types, ParseTypes(words_.source(), types_word_));
    sizes_word_ = words_.Take();
    const size_t axes = asked_.axes();
    // The number of sizes is looked at here, for a message that names them.
    if (Split(sizes_word_, 'x').size() != axes + 2)
      return words_.Expected(sizes_word_, Cat("the input's sizes as IMAGESxCHANNELS", "x", AxisNames()));
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<uint32_t> sizes, words_.Sizes(sizes_word_, axes + 2, axes + 2));
    asked_.sizes.images = sizes[0];
    asked_.sizes.channels = sizes[1];
    for (size_t i = 0; i < axes; ++i) Axes()[i].image = sizes[i + 2];
    return absl::OkStatus();
  }

  // The words behind the sizes: options in any order. `filters` and `kernel` must be among them.
  absl::Status ParseOptions() {
    const bool transposed = asked_.transposed();
    std::vector<std::string_view> valued(kValued.begin(), kValued.end());
    if (transposed) std::erase(valued, kGroups);
    const auto flags = transposed ? absl::MakeConstSpan(kTransposedFlags) : absl::MakeConstSpan(kFlags);
    KIRSCH_RETURN_IF_ERROR(words_.TakeOptions(valued, flags));
    KIRSCH_ASSIGN_OR_RETURN(asked_.sizes.filters, words_.SizeOption(kFilters));
    KIRSCH_RETURN_IF_ERROR(ParseKernel());
    for (std::string_view name : kConvolutionOptions) {
      if (!words_.Has(name)) continue;
      const Word& value = words_.Value(name);
      // In a shorthand, all pads are one word: commas do not separate arguments here.
      const std::vector<Word> values = name == kPadOption ? Split(value, ',') : std::vector<Word>{value};
      KIRSCH_RETURN_IF_ERROR(
          ParseConvolutionOption(words_.source(), name, values, asked_.axes(), &asked_.options));
    }
    asked_.accumulate = words_.Has(kAccumulateWord);
    asked_.constant_filters = words_.Has(kConstantFiltersWord);
    asked_.fixed_order = words_.Has(kFixedOrderWord);
    return absl::OkStatus();
  }

  // The filters' sides, one for each axis of the image.
  absl::Status ParseKernel() {
    const size_t axes = asked_.axes();
    if (!words_.Has(kKernel)) {
      constexpr std::array<std::string_view, ImageAxes::kCount> kSides = {"W", "HxW", "DxHxW"};
      return words_.Expected(words_.Peek(), Cat(kKernel, "=", kSides[axes - 1]));
    }
    const Word& kernel = words_.Value(kKernel);
    if (Split(kernel, 'x').size() != axes)
      return words_.Expected(kernel, Cat("a kernel's sizes as ", AxisNames()));
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<uint32_t> sides, words_.Sizes(kernel, axes, axes));
    for (size_t i = 0; i < axes; ++i) Axes()[i].kernel = sides[i];
    return absl::OkStatus();
  }

  // The axes that images have, and what messages call their sizes.
  absl::Span<ConvolutionSizes::Axis> Axes() { return AxesOf(asked_.sizes.axes, asked_.axes()); }
  std::string_view AxisNames() const {
    constexpr std::array<std::string_view, ImageAxes::kCount> kNames = {"WIDTH", "HEIGHTxWIDTH",
                                                                        "DEPTHxHEIGHTxWIDTH"};
    return kNames[asked_.axes() - 1];
  }

  // Types are checked here, not where they are read: which outputs there may be depends on the epilogue.
  absl::Status ParseEpilogueSteps() {
    const MatmulTypes& types = asked_.types;
    if (words_.Has(kEpilogueWord)) {
      KIRSCH_ASSIGN_OR_RETURN(asked_.epilogue, ParseEpilogue(words_.source(), words_.Value(kEpilogueWord),
                                                             AccumulatorOf(types.lhs)));
    }
    const absl::Status status = CheckTypes(words_.source(), types_word_, types, asked_.epilogue);
    return status.ok() && asked_.accumulate ? CheckAccumulation(words_.source(), types_word_, types) : status;
  }

  // Checks what is wrong whether it becomes a spec or a graph, and sets the sizes of the output.
  absl::Status CheckSizes() {
    ConvolutionSizes& sizes = asked_.sizes;
    const uint32_t groups = asked_.options.groups;
    if (sizes.channels % groups != 0)
      return words_.Expected(words_.Value(kGroups),
                             Cat("a divisor of the image's ", sizes.channels, " channels"));
    if (sizes.filters % groups != 0)
      return words_.Expected(words_.Value(kGroups), Cat("a divisor of the ", sizes.filters, " filters"));
    KIRSCH_RETURN_IF_ERROR(CheckBlocks());
    for (size_t axis = 0; axis < sizes.axes.size(); ++axis) {
      const AxisOptions& options = asked_.options.axes[axis];
      const bool transposed = asked_.transposed();
      sizes.axes[axis].out = transposed ? TransposedPixelsAlong(sizes.axes[axis], options)
                                        : PixelsAlong(sizes.axes[axis], options);
      if (sizes.axes[axis].out > 0) continue;
      if (transposed)
        return words_.Expected(
            words_.Has(kPadOption) ? words_.Value(kPadOption) : sizes_word_,
            Cat("pads that leave from 1 to ", kMaxSide, " pixels of the output along each axis"));
      return words_.Expected(words_.Value(kKernel), "a kernel that fits the padded image");
    }
    return absl::OkStatus();
  }

  // Blocks of channels are whole, and hold no channels of two groups.
  absl::Status CheckBlocks() const {
    const uint32_t block = asked_.block();
    if (block == 0) return absl::OkStatus();
    const Word& layout = words_.Value(kConvolutionOptions.back());
    if (asked_.transposed())
      return words_.Expected(layout, "a layout without blocks, as the convolution is transposed");
    if (FitsBlocks(asked_.sizes, asked_.options)) return absl::OkStatus();
    return words_.Expected(
        layout, Cat("a layout in whose blocks of ", block, " the channels and filters of each group fit, of ",
                    asked_.sizes.channels, " channels, ", asked_.sizes.filters,
                    " filters, groups=", asked_.options.groups));
  }

  // May it be a graph? Convolutions of graphs are of f32, and have none of these options.
  bool IsGraph() const {
    return asked_.types.lhs == Dtype::kF32 && asked_.types.rhs == Dtype::kF32 && !asked_.accumulate &&
           !asked_.fixed_order && IsGraphEpilogue(asked_.epilogue);
  }

  // The spec, or the place of the option that keeps it from being one. The options in question are there:
  // their defaults have no such limit.
  absl::StatusOr<ParsedSpec> MakeSpec() const {
    constexpr const char* kGraphsOnly = " (else it is of f32, without accumulate and fixed-order)";
    switch (asked_.limit()) {
      case ConvolutionLimit::kNone:
        return AsSpec(asked_);
      case ConvolutionLimit::kTransposed:
        return ErrorAt(words_.source(), sizes_word_.position, "expected a single contraction");
      case ConvolutionLimit::kPad:
        return words_.Expected(words_.Value(kPadOption), Cat("pad=0", kGraphsOnly));
      case ConvolutionLimit::kGroups:
        return words_.Expected(words_.Value(kGroups), Cat("groups=1", kGraphsOnly));
      case ConvolutionLimit::kBlocks:
        return words_.Expected(words_.Value(kConvolutionOptions.back()),
                               Cat("a layout without blocks", kGraphsOnly));
      case ConvolutionLimit::kImages:
        return words_.Expected(sizes_word_, Cat("a single image where channels come first", kGraphsOnly));
      case ConvolutionLimit::kSides:
        return words_.Expected(sizes_word_, Cat("at most ", kMaxSide, " pixels in out and terms in a sum"));
      case ConvolutionLimit::kElements:
        return words_.Expected(sizes_word_, Cat("at most ", kMaxElements, " elements in out"));
    }
    KIRSCH_CHECK(false);
    return absl::InternalError("");
  }

  // The graph has the same parameters as the spec: the image, the filters, the epilogue's operands.
  absl::StatusOr<Graph> MakeGraph(std::string name) const {
    if (!IsGraph())
      return words_.Expected(types_word_,
                             asked_.transposed()
                                 ? "f32, without leaky_relu by a tensor"
                                 : "f32, without accumulate, fixed-order and leaky_relu by a tensor");
    // Errors about the graph as a whole have the place of the kernel's sizes.
    GraphBuilder builder(std::move(name), words_.source(), words_.Value(kKernel).position);
    GraphNode node = OperationNode(asked_.op);
    node.conv = asked_.options;
    node.inputs = {
        builder.Parameter(kImageName, Dtype::kF32, asked_.image_dims()),
        builder.Parameter(kFiltersName, Dtype::kF32, asked_.filters_dims(), asked_.constant_filters)};
    const EpilogueShapes shapes = asked_.output_shapes();
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

absl::StatusOr<ShorthandKernel> ParseConvolution(Operation op, ShorthandWords& words) {
  return ConvolutionParser(op, words).Parse();
}

}  // namespace kirsch
