// SPDX-License-Identifier: Apache-2.0
// Lowers StableHLO. MLIR does not know it, so attributes are read from their text, and may be anything.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/along_dims.h"
#include "import/lowering.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// What is behind the name in MLIR's text of an attribute; empty if it is not there.
std::string_view TextBehind(std::string_view text, std::string_view name) {
  size_t at = text.find(name);
  // "batching" is also the end of "lhs_batching": a name begins where a word does.
  while (at != text.npos && at > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'))
    at = text.find(name, at + 1);
  return at == text.npos ? std::string_view() : text.substr(at + name.size());
}

// The first number in the text, which then goes on behind it; nothing if there is none.
std::optional<int64_t> NextNumber(std::string_view* text) {
  int64_t number = 0;
  const size_t begin = std::min(text->find_first_of("-0123456789"), text->size());
  const auto [end, error] = std::from_chars(text->data() + begin, text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// Nothing if the attribute names a dim twice, or one that is not there, or not as many for both sides.
std::optional<DotDims> ReadDotDims(const MlirOperation& operation, const MlirType& lhs, const MlirType& rhs) {
  const MlirAttribute* attribute = operation.Find("dot_dimension_numbers");
  if (attribute == nullptr) return std::nullopt;
  DotDims dims;
  const std::array<const char*, 2> sides = {"lhs", "rhs"};
  for (size_t side = 0; side < 2; ++side) {
    const size_t rank = (side == 0 ? lhs : rhs).shape.size();
    dims.batch[side] = NumbersBehind(attribute->text, Cat(sides[side], "_batching_dimensions"));
    dims.contract[side] = NumbersBehind(attribute->text, Cat(sides[side], "_contracting_dimensions"));
    std::set<int64_t> used;
    for (const auto* list : {&dims.batch[side], &dims.contract[side]})
      for (const int64_t dim : *list)
        if (dim < 0 || dim >= static_cast<int64_t>(rank) || !used.insert(dim).second) return std::nullopt;
    dims.free[side] = FreeDims(rank, dims.batch[side], dims.contract[side]);
  }
  if (dims.batch[0].size() != dims.batch[1].size() || dims.contract[0].size() != dims.contract[1].size())
    return std::nullopt;
  return dims;
}

// The words of one list of "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"; the text goes on behind it.
std::vector<std::string> NextList(std::string_view* text) {
  std::vector<std::string> words;
  const size_t open = std::min(text->find('['), text->size());
  const size_t close = std::min(text->find(']', open), text->size());
  std::string word;
  for (const char c : text->substr(open, close - open)) {
    if (c == '[' || c == ' ' || c == ',') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  text->remove_prefix(close);
  return words;
}

}  // namespace

std::vector<int64_t> NumbersBehind(std::string_view text, std::string_view name) {
  std::vector<int64_t> numbers;
  text = TextBehind(text, name);
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos || close < open) return numbers;
  text = text.substr(open + 1, close - open - 1);
  while (const std::optional<int64_t> number = NextNumber(&text)) numbers.push_back(*number);
  return numbers;
}

int64_t NumberBehind(std::string_view text, std::string_view name) {
  text = TextBehind(text, name);
  return NextNumber(&text).value_or(-1);
}

LoweredValues LowerStablehloCompare(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const MlirAttribute* direction = operation.of.Find("comparison_direction");
  struct Row {
    const char* direction;
    const char* expression;
  };
  for (const Row& row :
       {Row{"LT", "less($0, $1)"}, Row{"GT", "less($1, $0)"}, Row{"LE", "less_equal($0, $1)"},
        Row{"GE", "less_equal($1, $0)"}, Row{"EQ", "equal($0, $1)"}, Row{"NE", "sub(1, equal($0, $1))"}})
    if (direction != nullptr && direction->text.find(Cat(" ", row.direction)) != std::string::npos)
      return std::vector{
          builder->Elementwise(ParseExpression(row.expression), operation.operands, operation.type())};
  return builder->Expected("comparison_direction EQ, NE, LT, LE, GT or GE");
}

LoweredValues LowerStablehloIota(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> axis = operation.of.Integers("iota_dimension");
  const MlirType& type = operation.type();
  if (axis.size() != 1 || axis[0] < 0 || axis[0] >= static_cast<int64_t>(type.shape.size()))
    return builder->Expected("iota_dimension, a dim of the tensor");
  if (type.elements() > kMostFolded) return builder->Expected(Cat("at most ", kMostFolded, " elements"));
  return std::vector{builder->Constant(Iota(type.shape, static_cast<size_t>(axis[0])), type.element)};
}

LoweredValues LowerStablehloBroadcast(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{builder->Broadcast(operation.operands[0], operation.type().shape,
                                        operation.of.Integers("broadcast_dimensions"))};
}

LoweredValues LowerStablehloTranspose(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const size_t rank = builder->ShapeOf(operation.operands[0]).size();
  return std::vector{builder->Broadcast(operation.operands[0], operation.type().shape,
                                        Inverse(operation.of.Integers("permutation"), rank))};
}

LoweredValues LowerStablehloReduce(const SourceOperation& operation, TensorProgramBuilder* builder) {
  if (operation.operands.size() == 4) return LowerStablehloArgument(operation, builder);
  if (operation.operands.size() != 2) return builder->Expected("2 operands, or 4");
  const auto& regions = operation.of.regions;
  const std::string body =
      regions.size() == 1 && regions[0].operations.size() == 2 ? regions[0].operations[0].name : "";
  // Of truth values, which are 1 and 0, all and any are the smallest and the largest.
  const bool truth = builder->TypeOf(operation.operands[0]).element == "i1", all = body == "stablehlo.and";
  const bool sum = body == "stablehlo.add", least = body == "stablehlo.minimum" || (truth && all);
  if (!sum && !least && body != "stablehlo.maximum" && !(truth && body == "stablehlo.or"))
    return builder->Expected("a reduction by add, maximum or minimum");
  if (!builder->ShapeOf(operation.operands[1]).empty()) return builder->Expected("a scalar to begin at");
  std::vector<int64_t> dims = operation.of.Integers("dimensions");
  if (truth && operation.type().elements() == builder->TypeOf(operation.operands[0]).elements() &&
      builder->FindNumber(operation.operands[1]) == (all ? 1 : 0))
    return std::vector{builder->Reshape(operation.operands[0], operation.type().shape)};
  const int reduced = least ? builder->ReduceMin(operation.operands[0], std::move(dims))
                            : builder->Reduce(operation.operands[0], sum, std::move(dims));
  return std::vector{builder->BeginReduction(ParseExpression(sum     ? "add($0, $1)"
                                                             : least ? "min($0, $1)"
                                                                     : "max($0, $1)"),
                                             reduced, operation.operands[1])};
}

LoweredValues LowerStablehloDot(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int lhs = operation.operands[0], rhs = operation.operands[1];
  std::optional<DotDims> dims = ReadDotDims(operation.of, builder->TypeOf(lhs), builder->TypeOf(rhs));
  if (!dims) return builder->Expected("dot_dimension_numbers with dims of both operands, each once");
  return std::vector{builder->Dot(lhs, rhs, *std::move(dims), operation.type().element)};
}

LoweredValues LowerStablehloConvolution(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const MlirOperation& of = operation.of;
  const auto all = [&](const char* attribute, int64_t number) {
    const std::vector<int64_t> numbers = of.Integers(attribute);
    return std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == number; });
  };
  if (!all("lhs_dilation", 1) || !all("batch_group_count", 1) || !all("window_reversal", 0))
    return builder->Expected("no lhs_dilation, batch_group_count and window_reversal");
  ConvolutionDims dims;
  const MlirAttribute* numbers = of.Find("dimension_numbers");
  std::string_view text = numbers == nullptr ? "" : std::string_view(numbers->text);
  for (auto& words : dims.words) words = NextList(&text);
  dims.strides = of.Integers("window_strides");
  dims.dilations = of.Integers("rhs_dilation");
  dims.pads = of.Integers("padding");
  const std::vector<int64_t> groups = of.Integers("feature_group_count");
  if (groups.size() == 1) dims.groups = groups[0];
  return std::vector{
      builder->Convolution(operation.operands[0], operation.operands[1], std::move(dims), operation.type())};
}

LoweredValues LowerStablehloSlice(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> start = operation.of.Integers("start_indices"),
                             limit = operation.of.Integers("limit_indices"),
                             step = operation.of.Integers("strides");
  std::vector<int64_t> sizes;
  for (size_t dim = 0; dim < std::min({start.size(), limit.size(), step.size()}); ++dim) {
    // A limit beyond the dim would have the size of one that is within.
    if (limit[dim] < start[dim] || step[dim] < 1 || dim >= builder->ShapeOf(operation.operands[0]).size() ||
        limit[dim] > builder->ShapeOf(operation.operands[0])[dim])
      return builder->Expected("limit_indices from start_indices to the dims' sizes, strides of 1 or more");
    sizes.push_back((limit[dim] - start[dim] + step[dim] - 1) / step[dim]);
  }
  return Only(SliceDims(operation.operands[0], start, sizes, step, builder));
}

LoweredValues LowerStablehloPad(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> interior = operation.of.Integers("interior_padding");
  if (std::any_of(interior.begin(), interior.end(), [](int64_t n) { return n != 0; }))
    return builder->Expected("no interior_padding");
  const std::optional<double> number = builder->FindNumber(operation.operands[1]);
  if (!number) return builder->Expected("a constant padding value");
  return Only(PadDims(operation.operands[0], operation.of.Integers("edge_padding_low"),
                      operation.of.Integers("edge_padding_high"), *number, builder));
}

LoweredValues LowerStablehloReduceWindow(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const MlirOperation& of = operation.of;
  const std::string body =
      of.regions.size() == 1 && of.regions[0].operations.size() == 2 ? of.regions[0].operations[0].name : "";
  const bool sum = body == "stablehlo.add";
  if (!sum && body != "stablehlo.maximum") return builder->Expected("windows reduced by add or maximum");
  if (!builder->ShapeOf(operation.operands[1]).empty()) return builder->Expected("a scalar to begin at");
  const std::vector<int64_t> base = of.Integers("base_dilations"), pads = of.Integers("padding");
  if (std::any_of(base.begin(), base.end(), [](int64_t n) { return n != 1; }))
    return builder->Expected("no base_dilations");
  const size_t rank = builder->ShapeOf(operation.operands[0]).size();
  const std::vector<int64_t> sizes = of.Integers("window_dimensions"),
                             strides = of.Integers("window_strides"),
                             dilations = of.Integers("window_dilations");
  const auto fits = [&](const std::vector<int64_t>& numbers, size_t count) {
    return numbers.empty() || numbers.size() == count || numbers.size() == 1;  // one: of a splat
  };
  if (sizes.size() != rank || !fits(strides, rank) || !fits(dilations, rank) || !fits(pads, 2 * rank))
    return builder->Expected("window_dimensions, strides, dilations and padding for each dim");
  const auto at = [](const std::vector<int64_t>& numbers, size_t i, int64_t usual) {
    return numbers.empty() ? usual : numbers[numbers.size() == 1 ? 0 : i];
  };
  std::vector<DimWindow> windows;
  for (size_t dim = 0; dim < rank; ++dim)
    windows.push_back({sizes[dim], at(strides, dim, 1), at(dilations, dim, 1), at(pads, 2 * dim, 0),
                       at(pads, 2 * dim + 1, 0)});
  const std::optional<double> begin = builder->FindNumber(operation.operands[1]);
  // Elsewhere each element around the tensor would add what the sum begins at once more.
  if (sum && begin != 0) return builder->Expected("sums that begin at 0");
  KIRSCH_ASSIGN_OR_RETURN(const int reduced, WindowDims(operation.operands[0], sum, windows, builder));
  return std::vector{builder->BeginReduction(ParseExpression(sum ? "add($0, $1)" : "max($0, $1)"), reduced,
                                             operation.operands[1])};
}

}  // namespace kirsch
