// SPDX-License-Identifier: Apache-2.0
#include "spec/language/graph_shorthand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/types/span.h"
#include "spec/graph/builder.h"
#include "spec/graph/types.h"
#include "spec/language/convolution_parser.h"
#include "spec/language/graph_parser.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Row programs read and write these types; they compute in f32.
constexpr std::array<std::string_view, 3> kFloats = {Info(Dtype::kF32).name, Info(Dtype::kBf16).name,
                                                     Info(Dtype::kF16).name};
constexpr std::array<Dtype, 3> kFloatTypes = {Dtype::kF32, Dtype::kBf16, Dtype::kF16};

// A type and sizes, with which most shorthands begin, and the builder of their kernel. Errors about the
// kernel as a whole have the place of its sizes.
struct Begun {
  Dtype type;
  std::vector<uint32_t> sizes;
  GraphBuilder builder;
};

// The first `types` of kFloats are allowed.
absl::StatusOr<Dtype> TakeType(ShorthandWords& words, size_t types) {
  KIRSCH_ASSIGN_OR_RETURN(const size_t type,
                          words.TakeChoice(absl::MakeConstSpan(kFloats).first(types), "an element type"));
  return kFloatTypes[type];
}

// `name`: the kernel's.
absl::StatusOr<Begun> Begin(ShorthandWords& words, const std::string& name, size_t fewest_sizes) {
  KIRSCH_ASSIGN_OR_RETURN(const Dtype type, TakeType(words, kFloats.size()));
  const Word word = words.Take();
  KIRSCH_ASSIGN_OR_RETURN(std::vector<uint32_t> sizes, words.Sizes(word, fewest_sizes, kMaxRank));
  return Begun{type, std::move(sizes), {name, words.source(), word.position}};
}

// softmax, layernorm, rmsnorm: an operation along the last axis, with a vector of scales and one of shifts
// where it has them. The result is rounded to the type of the input.
absl::StatusOr<Graph> Rowwise(ShorthandWords& words, const std::string& name, Operation op) {
  KIRSCH_ASSIGN_OR_RETURN(Begun begun, Begin(words, name, 1));
  constexpr std::array<std::string_view, 1> kEps = {"eps"};
  constexpr std::array<const char*, 2> kVectors = {"scale", "shift"};
  // The arguments behind x are vectors as long as a row. Those that have vectors have eps, too.
  const auto vectors = static_cast<size_t>(Info(op).arguments - 1);
  KIRSCH_RETURN_IF_ERROR(words.TakeOptions(absl::MakeConstSpan(kEps).first(vectors > 0 ? 1 : 0)));
  GraphNode node = OperationNode(op);
  if (words.Has(kEps[0])) {
    const std::optional<float> eps = ParseFinite(words.Value(kEps[0]).text);
    if (!eps) return words.Expected(words.Value(kEps[0]), "a number");
    node.number = *eps;
  }
  node.inputs = {begun.builder.Parameter("x", begun.type, begun.sizes)};
  for (size_t i = 0; i < vectors; ++i)
    node.inputs.push_back(begun.builder.Parameter(kVectors[i], begun.type, {begun.sizes.back()}));
  const int result = begun.builder.Cast(begun.builder.Add(std::move(node)), begun.type);
  return std::move(begun.builder).Build(result);
}

// reduce sum|max|mean, over the axes named.
absl::StatusOr<Graph> Reduce(ShorthandWords& words, const std::string& name) {
  constexpr std::array<std::string_view, 3> kKinds = {"sum", "max", "mean"};
  constexpr std::array<Operation, 3> kOps = {Operation::kReduceSum, Operation::kReduceMax,
                                             Operation::kReduceMean};
  constexpr std::array<std::string_view, 1> kAxis = {"axis"};
  KIRSCH_ASSIGN_OR_RETURN(const size_t kind, words.TakeChoice(kKinds, "a reduction"));
  KIRSCH_ASSIGN_OR_RETURN(Begun begun, Begin(words, name, 1));
  KIRSCH_RETURN_IF_ERROR(words.TakeOptions(kAxis));
  GraphNode node = OperationNode(kOps[kind]);
  const auto last = static_cast<uint32_t>(begun.sizes.size()) - 1;
  if (!words.Has(kAxis[0])) node.axes = {last};  // as all that goes by rows
  for (const Word& axis : words.Has(kAxis[0]) ? Split(words.Value(kAxis[0]), ',') : std::vector<Word>{}) {
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t number, ParseNumber(words.source(), axis, "an axis", 0, last));
    // Ascending, as the graph has them.
    const auto place = std::ranges::lower_bound(node.axes, number);
    if (place != node.axes.end() && *place == number) return words.Expected(axis, "each axis once");
    node.axes.insert(place, number);
  }
  node.inputs = {begun.builder.Parameter("x", begun.type, begun.sizes)};
  const int result = begun.builder.Cast(begun.builder.Add(std::move(node)), begun.type);
  return std::move(begun.builder).Build(result);
}

absl::StatusOr<Graph> Transpose(ShorthandWords& words, const std::string& name) {
  KIRSCH_ASSIGN_OR_RETURN(Begun begun, Begin(words, name, 2));
  KIRSCH_RETURN_IF_ERROR(words.TakeOptions({}));
  const int x = begun.builder.Parameter("x", begun.type, begun.sizes);
  const int result = begun.builder.Add(Operation::kTranspose, {x});
  return std::move(begun.builder).Build(result);
}

// softmax(q k^T / sqrt(dim)) v
absl::StatusOr<Graph> Attention(ShorthandWords& words, const std::string& name) {
  constexpr std::array<std::string_view, 3> kSizes = {"heads", "tokens", "dim"};
  KIRSCH_ASSIGN_OR_RETURN(const Dtype type, TakeType(words, 1));
  KIRSCH_RETURN_IF_ERROR(words.TakeOptions(kSizes));
  // Queries, keys and values all have the shape [heads, tokens, dim].
  std::vector<uint32_t> sizes;
  for (std::string_view option : kSizes) {
    KIRSCH_ASSIGN_OR_RETURN(uint32_t size, words.SizeOption(option));
    sizes.push_back(size);
  }
  GraphBuilder builder(name, words.source(), words.Value("tokens").position);
  std::array<int, 3> inputs = {};
  for (size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = builder.Parameter(std::string(1, "qkv"[i]), type, sizes);
  const int scores =
      builder.Add(Operation::kMatmul, {inputs[0], builder.Add(Operation::kTranspose, {inputs[1]})});
  // Rounded to f32, as a kernel written by hand would have it.
  const int scale = builder.Number(1 / std::sqrt(static_cast<float>(sizes[2])));
  const int weights = builder.Add(Operation::kSoftmax, {builder.Add(Operation::kMul, {scores, scale})});
  const int result = builder.Add(Operation::kMatmul, {weights, inputs[2]});
  return std::move(builder).Build(result);
}

// Reads what stands behind the name of a shorthand. `name`: the kernel's.
using ShorthandParser = absl::StatusOr<Graph> (*)(ShorthandWords& words, const std::string& name);

// A row of the table for a shorthand that is a graph alone.
template <ShorthandParser kParse>
absl::StatusOr<ShorthandKernel> Parsed(ShorthandWords& words, const Word& text) {
  KIRSCH_ASSIGN_OR_RETURN(Graph graph, kParse(words, MakeIdentifier(text.text)));
  return ShorthandKernel{std::string(text.text),
                         ErrorAt(words.source(), text.position, "expected a single contraction"),
                         std::move(graph)};
}

// A row of the table for a convolution, which may have both forms.
template <Operation kOp>
absl::StatusOr<ShorthandKernel> ParsedConvolution(ShorthandWords& words, const Word&) {
  return ParseConvolution(kOp, words);
}

// Names the operation by a template's argument, so that the table has plain functions.
template <Operation kOp>
absl::StatusOr<Graph> ParseRowwise(ShorthandWords& words, const std::string& name) {
  return Rowwise(words, name, kOp);
}

struct Shorthand {
  std::string_view name;
  absl::StatusOr<ShorthandKernel> (*parse)(ShorthandWords& words, const Word& text);
  std::string_view arguments;  // what stands behind the name, for people
  std::string_view example;
  std::string_view axes = "";  // what its sizes are called, a letter each
};

// A new shorthand is a row here; help, hints and ranges follow.
constexpr std::array<Shorthand, 12> kShorthands = {{
    {Name(Operation::kConv1d), ParsedConvolution<Operation::kConv1d>,
     "TYPES IMAGESxCHANNELSxWIDTH filters=N kernel=W [stride=N pad=N|LEFT,RIGHT dilation=N groups=N "
     "layout=ncw|nwc|ncw8c|ncw16c accumulate const-filters fixed-order epilogue=STEPS]",
     "conv1d f32 1x80x3000 filters=384 kernel=3 pad=1 layout=nwc", "ncw"},
    {Name(Operation::kConv2d), ParsedConvolution<Operation::kConv2d>,
     "TYPES IMAGESxCHANNELSxHEIGHTxWIDTH filters=N kernel=HxW [stride=N|NxN pad=N|TOP,LEFT,BOTTOM,RIGHT "
     "dilation=N|NxN groups=N layout=nchw|nhwc|nchw8c|nchw16c accumulate const-filters fixed-order "
     "epilogue=STEPS]",
     "conv2d f32 1x64x56x56 filters=64 kernel=3x3 pad=1 layout=nhwc", "nchw"},
    {Name(Operation::kConv3d), ParsedConvolution<Operation::kConv3d>,
     "TYPES IMAGESxCHANNELSxDEPTHxHEIGHTxWIDTH filters=N kernel=DxHxW [stride=N|NxNxN "
     "pad=N|FRONT,TOP,LEFT,BACK,BOTTOM,RIGHT dilation=N|NxNxN groups=N "
     "layout=ncdhw|ndhwc|ncdhw8c|ncdhw16c accumulate "
     "const-filters fixed-order epilogue=STEPS]",
     "conv3d f32 1x16x8x28x28 filters=32 kernel=3x3x3 pad=1 layout=ndhwc", "ncdhw"},
    {Name(Operation::kConv1dTranspose), ParsedConvolution<Operation::kConv1dTranspose>,
     "TYPES IMAGESxCHANNELSxWIDTH filters=N kernel=W [stride=N pad=N|LEFT,RIGHT dilation=N layout=ncw|nwc "
     "const-filters epilogue=STEPS]",
     "conv1d_transpose f32 1x64x100 filters=32 kernel=4 stride=2 pad=1 layout=nwc", "ncw"},
    {Name(Operation::kConv2dTranspose), ParsedConvolution<Operation::kConv2dTranspose>,
     "TYPES IMAGESxCHANNELSxHEIGHTxWIDTH filters=N kernel=HxW [stride=N|NxN pad=N|TOP,LEFT,BOTTOM,RIGHT "
     "dilation=N|NxN layout=nchw|nhwc const-filters epilogue=STEPS]",
     "conv2d_transpose f32 1x64x28x28 filters=32 kernel=2x2 stride=2 layout=nhwc", "nchw"},
    {Name(Operation::kConv3dTranspose), ParsedConvolution<Operation::kConv3dTranspose>,
     "TYPES IMAGESxCHANNELSxDEPTHxHEIGHTxWIDTH filters=N kernel=DxHxW [stride=N|NxNxN "
     "pad=N|FRONT,TOP,LEFT,BACK,BOTTOM,RIGHT dilation=N|NxNxN layout=ncdhw|ndhwc const-filters "
     "epilogue=STEPS]",
     "conv3d_transpose f32 1x16x4x14x14 filters=8 kernel=2x2x2 stride=2 layout=ndhwc", "ncdhw"},
    {"softmax", Parsed<ParseRowwise<Operation::kSoftmax>>, "f32|bf16|f16 SIZES", "softmax f32 32x1024"},
    {"layernorm", Parsed<ParseRowwise<Operation::kLayernorm>>, "f32|bf16|f16 SIZES [eps=NUMBER]",
     "layernorm f32 32x768"},
    {"rmsnorm", Parsed<ParseRowwise<Operation::kRmsnorm>>, "f32|bf16|f16 SIZES [eps=NUMBER]",
     "rmsnorm f32 32x768 eps=1e-6"},
    {"reduce", Parsed<Reduce>, "sum|max|mean f32|bf16|f16 SIZES [axis=N,...]",
     "reduce mean f32 8x16x32 axis=0,2"},
    {"transpose", Parsed<Transpose>, "f32|bf16|f16 SIZES", "transpose f32 64x48"},
    {"attention", Parsed<Attention>, "f32 heads=N tokens=N dim=N",
     "attention f32 heads=12 tokens=128 dim=64"},
}};

const Shorthand* Find(std::string_view name) {
  const auto found = std::ranges::find(kShorthands, name, &Shorthand::name);
  return found == kShorthands.end() ? nullptr : &*found;
}

// "1..64" or "32|64"
bool IsRange(const Word& word) {
  return word.text.find("..") != std::string_view::npos || word.text.find('|') != std::string_view::npos;
}

// Sizes are the only words that begin with a digit.
bool IsSizes(const Word& word) {
  return !word.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(word.text.front()));
}

// The name of an option's size. Empty: it is no size, or more than a shape depends on it.
std::string_view NameOfOption(std::string_view option) {
  constexpr std::array<std::string_view, 3> kSame = {"heads", "tokens", "dim"};
  if (option == "filters") return "f";
  return std::ranges::find(kSame, option) != kSame.end() ? option : "";
}

}  // namespace

bool IsGraphShorthand(std::string_view text) { return Find(SplitWords(text).front().text) != nullptr; }

std::vector<std::string_view> GraphShorthandNames() { return NamesOf(kShorthands); }

std::vector<ShorthandUsage> GraphShorthands() {
  std::vector<ShorthandUsage> usages;
  for (const Shorthand& row : kShorthands) usages.push_back({row.name, row.arguments, row.example});
  return usages;
}

absl::StatusOr<ShorthandKernel> ParseShorthand(const Word& text, std::string_view source,
                                               const ChosenSizes& chosen) {
  ShorthandWords words(text, source, chosen);
  const Word name = words.Take();
  const Shorthand* const shorthand = Find(name.text);
  if (shorthand == nullptr)
    return words.Expected(name, Cat("an operation (", Join(GraphShorthandNames(), "|"), ")"),
                          DidYouMean(name.text, GraphShorthandNames()));
  absl::StatusOr<ShorthandKernel> kernel = shorthand->parse(words, text);
  if (kernel.ok() && kernel->graph.ok())
    // A shorthand has no places for single operations: later errors about any of them have that of its name.
    for (GraphNode& node : kernel->graph->nodes) node.position = name.position;
  return kernel;
}

absl::StatusOr<Graph> ParseGraphShorthand(const Word& text, std::string_view source,
                                          const ChosenSizes& chosen) {
  KIRSCH_ASSIGN_OR_RETURN(ShorthandKernel kernel, ParseShorthand(text, source, chosen));
  return std::move(kernel.graph);
}

std::vector<ShorthandRange> RangesOf(const Word& text) {
  const std::vector<Word> words = SplitWords(text);
  const Shorthand* const shorthand = Find(words.front().text);
  const std::string_view axes = shorthand == nullptr ? "" : shorthand->axes;
  std::vector<ShorthandRange> ranges;
  for (const Word& word : words) {
    if (IsSizes(word)) {
      const std::vector<Word> sizes = Split(word, 'x');
      for (size_t i = 0; i < sizes.size(); ++i)
        if (IsRange(sizes[i]))
          ranges.push_back({sizes[i], i < axes.size() ? std::string(axes.substr(i, 1)) : Cat("size", i)});
      continue;
    }
    // A word without '=' has an empty value, which is no range.
    const size_t equals = std::min(word.text.find('='), word.text.size());
    const Word value = word.Part(std::min(equals + 1, word.text.size()));
    const std::string_view name = NameOfOption(word.text.substr(0, equals));
    if (!name.empty() && IsRange(value)) ranges.push_back({value, std::string(name)});
  }
  return ranges;
}

}  // namespace kirsch
