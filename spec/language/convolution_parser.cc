// SPDX-License-Identifier: Apache-2.0
#include "spec/language/convolution_parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "spec/canonical.h"
#include "spec/convolution.h"
#include "spec/graph/epilogue_operations.h"
#include "spec/graph/types.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/printer.h"
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

// What its parameters are called.
constexpr char kImageName[] = "image", kFiltersName[] = "filters";

class ConvolutionParser {
 public:
  explicit ConvolutionParser(ShorthandWords& words) : words_(words) {}

  absl::StatusOr<ShorthandKernel> Parse() {
    absl::Status status = ParseSizes();
    if (status.ok()) status = ParseOptions();
    if (status.ok()) status = ParseEpilogueSteps();
    if (status.ok()) status = CheckSizes();
    if (!status.ok()) return status;
    const std::string text = Text();
    ShorthandKernel kernel{text, MakeSpec(text), MakeGraph(MakeIdentifier(text))};
    // Of two reasons the one why it is not what was asked for.
    if (!kernel.spec.ok() && !kernel.graph.ok())
      return IsGraph() ? kernel.graph.status() : kernel.spec.status();
    return kernel;
  }

 private:
  bool nhwc() const { return options_.layout == ImageLayout::kNhwc; }
  bool accumulates() const { return words_.Has(kAccumulateWord); }
  bool constant() const { return words_.Has(kConstantFiltersWord); }
  bool fixed_order() const { return words_.Has(kFixedOrderWord); }

  // Types and the image's sizes.
  absl::Status ParseSizes() {
    types_word_ = words_.Take();
    absl::StatusOr<MatmulTypes> types = ParseTypes(words_.source(), types_word_);
    if (!types.ok()) return types.status();
    types_ = *types;
    sizes_word_ = words_.Take();
    if (Split(sizes_word_, 'x').size() != 4)
      return words_.Expected(sizes_word_, "the input's sizes as IMAGESxCHANNELSxHEIGHTxWIDTH");
    absl::StatusOr<std::vector<uint32_t>> sizes = words_.Sizes(sizes_word_, 4, 4);
    if (sizes.ok()) image_ = *std::move(sizes);
    return sizes.status();
  }

  absl::Status ParseOptions() {
    if (absl::Status status = words_.TakeOptions(kValued, kFlags); !status.ok()) return status;
    absl::StatusOr<uint32_t> filters = words_.SizeOption(kFilters);
    if (!filters.ok()) return filters.status();
    filters_ = *filters;
    if (!words_.Has(kKernel)) return words_.Expected(words_.Peek(), "kernel=HxW");
    const Word& kernel = words_.Value(kKernel);
    if (Split(kernel, 'x').size() != 2) return words_.Expected(kernel, "a kernel's sizes as HEIGHTxWIDTH");
    absl::StatusOr<std::vector<uint32_t>> sides = words_.Sizes(kernel, 2, 2);
    if (!sides.ok()) return sides.status();
    kernel_ = *std::move(sides);
    const std::array<std::pair<std::string_view, uint32_t*>, 3> numbers = {
        {{kStride, &options_.stride}, {kDilation, &options_.dilation}, {kGroups, &options_.groups}}};
    for (const auto& [name, to] : numbers) {
      absl::StatusOr<uint32_t> number = words_.Number(name, 1, kMaxSide, 1);
      if (!number.ok()) return number.status();
      *to = *number;
    }
    if (words_.Has(kPad)) {
      absl::StatusOr<Padding> pad = ParsePadding(words_.source(), Split(words_.Value(kPad), ','));
      if (!pad.ok()) return pad.status();
      options_.pad = *pad;
    }
    if (words_.Has(kLayout)) {
      const absl::StatusOr<size_t> layout = words_.Choice(words_.Value(kLayout), kImageLayouts, "a layout");
      if (!layout.ok()) return layout.status();
      options_.layout = static_cast<ImageLayout>(*layout);
    }
    return absl::OkStatus();
  }

  absl::Status ParseEpilogueSteps() {
    if (words_.Has(kEpilogueWord)) {
      absl::StatusOr<Epilogue> epilogue =
          ParseEpilogue(words_.source(), words_.Value(kEpilogueWord), AccumulatorOf(types_.lhs));
      if (!epilogue.ok()) return epilogue.status();
      epilogue_ = *epilogue;
    }
    const absl::Status status = CheckTypes(words_.source(), types_word_, types_, epilogue_);
    return status.ok() && accumulates() ? CheckAccumulation(words_.source(), types_word_, types_) : status;
  }

  // What is wrong with it whether it becomes a spec or a graph.
  absl::Status CheckSizes() const {
    if (image_[1] % options_.groups != 0)
      return words_.Expected(words_.Value(kGroups), Cat("a divisor of the image's ", image_[1], " channels"));
    if (filters_ % options_.groups != 0)
      return words_.Expected(words_.Value(kGroups), Cat("a divisor of the ", filters_, " filters"));
    const Padding& pad = options_.pad;
    const uint64_t height = uint64_t{image_[2]} + pad.top + pad.bottom,
                   width = uint64_t{image_[3]} + pad.left + pad.right;
    const auto window = [&](size_t side) { return uint64_t{kernel_[side] - 1} * options_.dilation + 1; };
    if (window(0) > height || window(1) > width)
      return words_.Expected(words_.Value(kKernel), "a kernel that fits the padded image");
    return absl::OkStatus();
  }

  bool IsGraph() const {
    return types_.lhs == Dtype::kF32 && types_.rhs == Dtype::kF32 && !accumulates() && !fixed_order() &&
           IsGraphEpilogue(epilogue_);
  }

  ConvShape Shape() const {
    ConvShape shape;
    shape.layout = options_.layout;
    shape.images = image_[0];
    shape.channels = image_[1];
    shape.height = image_[2];
    shape.width = image_[3];
    shape.filters = filters_;
    shape.kernel_height = kernel_[0];
    shape.kernel_width = kernel_[1];
    shape.stride = options_.stride;
    shape.dilation = options_.dilation;
    return shape;
  }

  // OK if it is a single contraction.
  absl::Status CheckSpec() const {
    constexpr const char* kGraphsOnly = " (else it is of f32, without accumulate and fixed-order)";
    if (options_.pad.any()) return words_.Expected(words_.Value(kPad), Cat("pad=0", kGraphsOnly));
    if (options_.groups > 1) return words_.Expected(words_.Value(kGroups), Cat("groups=1", kGraphsOnly));
    if (!nhwc() && image_[0] > 1)
      return words_.Expected(sizes_word_, Cat("a single image with layout=nchw", kGraphsOnly));
    const ConvShape shape = Shape();
    for (int64_t side : {shape.pixels(), shape.taps()})
      if (side > kMaxSide)
        return words_.Expected(sizes_word_, Cat("at most ", kMaxSide, " pixels in out and terms in a sum"));
    if (shape.pixels() * shape.filters > kMaxElements)
      return words_.Expected(sizes_word_, Cat("at most ", kMaxElements, " elements in out"));
    return absl::OkStatus();
  }

  absl::StatusOr<ParsedSpec> MakeSpec(const std::string& text) const {
    if (absl::Status status = CheckSpec(); !status.ok()) return status;
    Spec spec = ConvolutionSpec(Shape(), types_, epilogue_);
    spec.accumulate = accumulates();
    spec.fixed_order = fixed_order() ? 1 : 0;
    spec.tensor(FiltersOperand(options_.layout)).constant = constant() ? 1 : 0;
    const CanonicalSpec canonical = Canonicalise(spec);
    return ParsedSpec{canonical.spec, canonical.swapped, text, Parameters(canonical)};
  }

  std::vector<Parameter> Parameters(const CanonicalSpec& canonical) const {
    const auto operand = [&](int of_matmul) { return SwappedOperand(of_matmul, canonical.swapped); };
    const ConvShape shape = Shape();
    const EpilogueShapes shapes =
        ShapesFor(static_cast<uint32_t>(shape.out_height()), static_cast<uint32_t>(shape.out_width()));
    std::vector<Parameter> parameters = {
        {kImageName, operand(InputOperand(options_.layout)), TensorType{types_.lhs, ImageDims()}},
        {kFiltersName, operand(FiltersOperand(options_.layout)), TensorType{types_.rhs, FiltersDims()}}};
    const std::vector<std::string> names = EpilogueNames(epilogue_);
    for (int i = 0; i < epilogue_.count; ++i) {
      const EpilogueStep& step = epilogue_.steps[static_cast<size_t>(i)];
      if (!step.HasOperand()) continue;
      const size_t number = parameters.size() - 2;
      parameters.push_back(
          {names[number], MatmulDims::kOut + 1 + static_cast<int>(number),
           TensorType{TypeBefore(epilogue_, AccumulatorOf(types_.lhs), i), shapes.Of(step.operand)}});
    }
    parameters.push_back({"out", MatmulDims::kOut, TensorType{types_.out, shapes.all}});
    return parameters;
  }

  using Dims = std::vector<uint32_t>;

  Dims ImageDims() const {
    const uint32_t n = image_[0], c = image_[1], h = image_[2], w = image_[3];
    return nhwc() ? Dims{n, h, w, c} : image_;
  }
  Dims FiltersDims() const {
    const uint32_t per_group = image_[1] / options_.groups;
    return nhwc() ? Dims{kernel_[0], kernel_[1], per_group, filters_}
                  : Dims{filters_, per_group, kernel_[0], kernel_[1]};
  }
  // Of an output with so many pixels. An epilogue's rows and columns are those of the matmul that each
  // convolution is: of nhwc pixels and filters, of nchw filters and pixels.
  EpilogueShapes ShapesFor(uint32_t height, uint32_t width) const {
    const uint32_t n = image_[0], f = filters_;
    if (nhwc()) return {{n, height, width, 1}, {f}, {n, height, width, f}};
    return {{f, 1, 1}, {n, 1, height, width}, {n, f, height, width}};
  }

  absl::StatusOr<Graph> MakeGraph(std::string name) const {
    if (!IsGraph())
      return words_.Expected(types_word_, "f32, without accumulate, fixed-order and leaky_relu by a tensor");
    GraphBuilder builder(std::move(name), words_.source(), words_.Value(kKernel).position);
    GraphNode node = OperationNode(Operation::kConv2d);
    node.conv = options_;
    node.inputs = {builder.Parameter(kImageName, Dtype::kF32, ImageDims()),
                   builder.Parameter(kFiltersName, Dtype::kF32, FiltersDims(), constant())};
    const ConvolutionSizes sizes = SizesOfConvolution(builder.graph(), node);
    const EpilogueShapes shapes = ShapesFor(sizes.out_height, sizes.out_width);
    const std::vector<int> parameters = AddEpilogueParameters(epilogue_, Dtype::kF32, shapes, &builder);
    const int sums = builder.Add(std::move(node));
    const int result = AddEpilogueSteps(epilogue_, Dtype::kF32, types_.out, sums, parameters, &builder);
    return std::move(builder).Build(result);
  }

  // The shortest form.
  std::string Text() const {
    std::string text =
        Cat(kConvolutionWord, " ", PrintTypes(types_), " ", image_[0], "x", image_[1], "x", image_[2], "x",
            image_[3], " filters=", filters_, " kernel=", kernel_[0], "x", kernel_[1]);
    if (options_.stride > 1) Append(&text, " stride=", options_.stride);
    if (options_.pad.any()) Append(&text, " pad=", PrintPadding(options_.pad));
    if (options_.dilation > 1) Append(&text, " dilation=", options_.dilation);
    if (options_.groups > 1) Append(&text, " groups=", options_.groups);
    Append(&text, " layout=", kImageLayouts[static_cast<size_t>(options_.layout)]);
    for (std::string_view flag : kFlags)
      if (words_.Has(flag)) Append(&text, " ", flag);
    if (!epilogue_.empty())
      Append(&text, " ", kEpilogueWord, "=", PrintEpilogue(epilogue_, AccumulatorOf(types_.lhs)));
    return text;
  }

  ShorthandWords& words_;
  Word types_word_, sizes_word_;
  MatmulTypes types_ = {};
  std::vector<uint32_t> image_, kernel_;  // images, channels, height, width; height, width
  uint32_t filters_ = 1;
  ConvolutionOptions options_;
  Epilogue epilogue_;
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
