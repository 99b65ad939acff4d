// SPDX-License-Identifier: Apache-2.0
#include "spec/language/graph_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "spec/graph/builder.h"
#include "spec/graph/types.h"
#include "spec/language/along_axis_options.h"
#include "spec/language/convolution_options.h"
#include "spec/language/functions.h"
#include "spec/language/shorthand.h"
#include "spec/language/token_reader.h"
#include "spec/language/types_parser.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Parameters, numbers and operations together, and calls within one another. Limits keep any text cheap to
// read.
constexpr size_t kMaxNodes = 4096, kMostOpenCalls = 1024;
constexpr std::string_view kInfinity = "inf", kMinusInfinity = "-inf";

// A number that is a value: an f32, which may be infinite.
std::optional<float> ParseValueNumber(std::string_view text) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  return text == kInfinity ? kInfinite : text == kMinusInfinity ? -kInfinite : ParseFinite(text);
}

// A recursive-descent parser with one line of tokens at a time. Each method reads what its comment shows, and
// leaves the next token behind it to be read.
class GraphParser : TokenReader {
 public:
  // `values`: of the sizes that have names, as ParseGraph has them. Without them, the kernel may have none.
  explicit GraphParser(std::string_view source,
                       std::optional<absl::Span<const uint32_t>> values = std::nullopt)
      : TokenReader(source), values_(values) {}

  // The whole kernel; its head is the first line.
  absl::StatusOr<Graph> Parse(absl::Span<const Word> lines) {
    KIRSCH_RETURN_IF_ERROR(ParseHead(lines.front()));
    for (const Word& line : lines.subspan(1)) KIRSCH_RETURN_IF_ERROR(ParseStatement(line));
    if (!returned_)
      return ErrorAt(source(), lines.back().position, Cat("expected a line 'return ...' in ", graph_.name));
    return std::move(graph_);
  }

  // The head up to its sizes, for a family, whose members are parsed one by one.
  absl::StatusOr<KernelHead> Head(const Word& line) {
    KIRSCH_RETURN_IF_ERROR(ParseName(line));
    if (Peek().text == "[") KIRSCH_RETURN_IF_ERROR(ParseSizeNames());
    return sizes_.Head(source(), graph_.name);
  }

 private:
  int Add(GraphNode node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }
  const TensorType& TypeOf(int node) const { return graph_.nodes[static_cast<size_t>(node)].type; }

  // kernel NAME
  absl::Status ParseName(const Word& line) {
    Start(line);
    Take();
    const Word name = Take();
    if (!IsKernelName(name.text))
      return Expected(name, "the kernel's name (no keyword, none that C's library or the header's code has)");
    graph_.name = std::string(name.text);
    return absl::OkStatus();
  }

  // kernel NAME [SIZES] (NAME: TYPE, ...) [-> TYPES]:
  absl::Status ParseHead(const Word& line) {
    absl::Status status = ParseName(line);
    if (status.ok() && Peek().text == "[")
      status = values_ ? ParseSizeNames() : Expected(Peek(), "'(' (a single kernel, not a family of sizes)");
    if (status.ok()) status = TakeSign("(");
    do {
      if (status.ok()) status = ParseParameter();
    } while (status.ok() && Peek().text == "," && !Take().text.empty());
    // A size that no parameter has would vary nothing: the result's type follows from the parameters'.
    if (const Word* const unused = sizes_.Unused(); status.ok() && unused != nullptr)
      status = Expected(*unused, "the size of some parameter");
    if (status.ok()) status = TakeSign(")");
    if (status.ok() && Peek().text == "->") {
      Take();
      // Compared with the inferred types when the return is read.
      status = ParseResultTypes();
    }
    if (status.ok()) status = TakeSign(":");
    return status.ok() ? ExpectEnd() : status;
  }

  absl::Status ParseSizeNames() {
    return sizes_.Parse(*this, [this](const Word& name) { return CheckNewName(name); });
  }

  // A number, or the value of a name of a size. The token is only looked at: errors about the value need it.
  absl::StatusOr<uint32_t> ParseSize(std::string_view of, int64_t most) {
    if (sizes_.Has(Peek().text)) {
      const uint32_t value = *sizes_.Use(Peek().text, *values_);
      if (value > 0 && value <= most) return value;
      return ErrorAt(source(), Peek().position,
                     Cat("expected ", of, " from 1 to ", most, ", got ", Peek().text, " = ", value));
    }
    const std::string names = sizes_.Listed();
    return ParseNumber(source(), Peek(), names.empty() ? of : Cat(names, "or ", of), 1, most);
  }

  // NAME: [const] TYPE [strides=[...]]
  absl::Status ParseParameter() {
    const Word name = Take();
    GraphNode input;
    input.text = std::string(name.text);
    input.position = name.position;
    KIRSCH_RETURN_IF_ERROR(CheckNewName(name));
    KIRSCH_RETURN_IF_ERROR(TakeSign(":"));
    if (Peek().text == kConstantWord) {
      Take();
      input.constant = true;
    }
    KIRSCH_RETURN_IF_ERROR(ParseTensor(&input.type));
    // All nodes so far are parameters: statements come later.
    if (graph_.nodes.size() == kMaxParameters)
      return Expected(name, Cat("at most ", kMaxParameters, " parameters"));
    names_[input.text] = Add(input);
    return absl::OkStatus();
  }

  // A name is a value's for the whole kernel: neither another value nor a size may have it. Names of
  // operations are taken, since a call could not be told from a value; so is inf, which is a number.
  absl::Status CheckNewName(const Word& name) {
    if (!IsIdentifier(name.text) || name.text == "return" || name.text == kInfinity ||
        FindFunction(name.text) != nullptr)
      return Expected(name,
                      "a name (letters, digits, underscores; a letter first, no keyword or macro of C or "
                      "C++, no operation, not inf)");
    if (names_.contains(std::string(name.text)) || sizes_.Has(name.text))
      return Expected(name, "a name that is not taken");
    return absl::OkStatus();
  }

  // The name of an element type. `result`: of a value that is computed; not all types are ever made.
  absl::StatusOr<Dtype> ParseDtype(bool result) {
    const Word word = Take();
    std::vector<std::string_view> names;
    for (const DtypeInfo& info : kDtypes) {
      if (!IsOfCallers(info.dtype) || (result && !info.is_result)) continue;
      if (info.name == word.text) return info.dtype;
      names.push_back(info.name);
    }
    return Expected(word, Cat("an element type (", Join(names, " "), ")"), DidYouMean(word.text, names));
  }

  // T[M,N]
  absl::Status ParseType(TensorType* type) {
    KIRSCH_ASSIGN_OR_RETURN(Dtype dtype, ParseDtype(false));
    type->dtype = dtype;
    KIRSCH_RETURN_IF_ERROR(TakeSign("["));
    Word last = Peek();
    while (Peek().text != "]") {
      if (!type->dims.empty()) KIRSCH_RETURN_IF_ERROR(TakeSign(","));
      KIRSCH_ASSIGN_OR_RETURN(uint32_t size, ParseSize("a size", kMaxSide));
      if (type->dims.size() == kMaxRank) return Expected(Peek(), Cat("at most ", kMaxRank, " axes"));
      type->dims.push_back(size);
      if (type->elements() > kMaxElements)
        return Expected(Peek(), Cat("at most ", kMaxElements, " elements"));
      last = Take();
    }
    // Rows of such a tensor begin and end with whole blocks.
    if (const auto block = static_cast<uint32_t>(BlockOf(type->dtype));
        block > 1 && (type->dims.empty() || type->dims.back() % block != 0))
      return Expected(last, Cat("a last axis that is a multiple of ", block, ", as ", Info(type->dtype).name,
                                " has blocks of so many"));
    return TakeSign("]");
  }

  // A type, and perhaps strides, which say how the tensor lies.
  absl::Status ParseTensor(TensorType* type) {
    const absl::Status status = ParseType(type);
    if (!status.ok() || Peek().text != kStridesWord) return status;
    if (IsOfBlocks(type->dtype)) return Expected(Peek(), Cat("no strides of ", Info(type->dtype).name));
    return ParseStrides(type);
  }

  // strides=[NUMBER, ...], one for each axis. Each error has the place of the stride that it is about.
  absl::Status ParseStrides(TensorType* type) {
    if (type->dims.size() > kMaxStridedRank)
      return Expected(Peek(), Cat("at most ", kMaxStridedRank, " axes where there are strides"));
    Take();
    for (std::string_view sign : {"=", "["}) KIRSCH_RETURN_IF_ERROR(TakeSign(sign));
    const std::string wanted = Cat("a stride for each of ", type->dims.size(), " axes");
    std::vector<Word> words;
    while (Peek().text != "]") {
      if (words.size() == type->dims.size()) return Expected(Peek(), Cat("']' (", wanted, ")"));
      if (!words.empty()) KIRSCH_RETURN_IF_ERROR(TakeSign(","));
      KIRSCH_ASSIGN_OR_RETURN(const uint32_t stride,
                              ParseSize("a stride", std::numeric_limits<uint32_t>::max()));
      type->strides.push_back(stride);
      words.push_back(Take());
    }
    if (words.size() < type->dims.size()) return Expected(Peek(), wanted);
    if (const std::optional<WrongStride> wrong = CheckStrides(*type))
      return Expected(words[wrong->axis], wrong->expected);
    // Two texts for the same places in memory become equal types.
    NormaliseStrides(type);
    return TakeSign("]");
  }

  // TYPE, or (TYPE, ...)
  absl::Status ParseResultTypes() {
    const bool several = Peek().text == "(";
    declared_at_ = Peek();
    do {
      if (several) Take();
      KIRSCH_RETURN_IF_ERROR(ParseTensor(&declared_.emplace_back()));
    } while (several && Peek().text == ",");
    return several ? TakeSign(")") : absl::OkStatus();
  }

  // NAME = EXPRESSION, or a return
  absl::Status ParseStatement(const Word& line) {
    Start(line);
    const Word first = Take();
    if (returned_) return Expected(first, "nothing after the return");
    if (first.text == "return") return ParseReturn();
    // The value gets its name only when it is read, so no value is made from itself.
    KIRSCH_RETURN_IF_ERROR(CheckNewName(first));
    KIRSCH_RETURN_IF_ERROR(TakeSign("="));
    KIRSCH_ASSIGN_OR_RETURN(int value, ParseTensorValue());
    names_[std::string(first.text)] = value;
    return ExpectEnd();
  }

  // return EXPRESSION, or return NAME, NAME, ...
  absl::Status ParseReturn() {
    returned_ = true;
    std::vector<Word> words;
    do {
      if (!words.empty()) Take();
      words.push_back(Peek());
      KIRSCH_RETURN_IF_ERROR(ParseResult());
    } while (Peek().text == ",");
    KIRSCH_RETURN_IF_ERROR(ExpectEnd());
    if (!declared_.empty() && declared_.size() != words.size())
      return Expected(declared_at_, Cat("the types of ", words.size(), " results, in parentheses"));
    if (words.size() > 1)
      for (size_t i = 0; i < words.size(); ++i) KIRSCH_RETURN_IF_ERROR(NameResult(words[i], i));
    for (size_t i = 0; i < words.size() && !declared_.empty(); ++i)
      KIRSCH_RETURN_IF_ERROR(SetType(words[i], declared_[i], graph_.results[i].value));
    return absl::OkStatus();
  }

  // One value behind the return. A value that is returned already is returned as a copy, as each result is
  // memory of its own.
  absl::Status ParseResult() {
    const Word start = Peek();
    if (graph_.results.size() == kMaxResults)
      return Expected(start, Cat("at most ", kMaxResults, " results"));
    absl::StatusOr<int> value = ParseTensorValue();
    if (!value.ok()) return value.status();
    if (IsOfBlocks(TypeOf(*value).dtype))
      return Expected(start, "a result that is not of blocks (those are for matmul(x, transpose(w)) alone)");
    if (!Info(TypeOf(*value).dtype).is_result)
      return Expected(
          start, Cat("a result that is not of ", Info(TypeOf(*value).dtype).name, ", which is only read"));
    if (graph_.IsResult(*value)) value = Add(CopyOf(graph_, *value));
    graph_.results.push_back({*value});
    return absl::OkStatus();
  }

  // Results of several are called as the text calls them: the function has a parameter for each.
  absl::Status NameResult(const Word& word, size_t number) {
    const auto known = names_.find(std::string(word.text));
    const auto is_named = [&](const GraphResult& other) { return other.name == word.text; };
    if (known == names_.end() || graph_.at(known->second).op == Operation::kInput)
      return Expected(word, "the name of a value that the kernel computes, as it returns several");
    // Those behind it have no names yet.
    const auto own = graph_.results.begin() + static_cast<std::ptrdiff_t>(number);
    if (std::any_of(graph_.results.begin(), own, is_named)) return Expected(word, "each result once");
    own->name = std::string(word.text);
    return absl::OkStatus();
  }

  // A result's type is inferred. A declared type has to agree, and may add how the result lies in memory.
  absl::Status SetType(const Word& word, const TensorType& declared, int value) {
    GraphNode& result = graph_.nodes[static_cast<size_t>(value)];
    if (result.type.dtype != declared.dtype || result.type.dims != declared.dims)
      return ErrorAt(source(), word.position,
                     Cat("expected ", PrintTensorType(declared), ", as ", graph_.name, " returns, got ",
                         PrintTensorType(result.type)));
    // A result that is a parameter lies as that does.
    if (result.op != Operation::kInput) result.type.strides = declared.strides;
    return absl::OkStatus();
  }

  // An expression that is no number: a number has a type only beside a tensor.
  absl::StatusOr<int> ParseTensorValue() {
    const Word start = Peek();
    absl::StatusOr<int> value = ParseExpression();
    if (value.ok() && graph_.at(*value).op == Operation::kNumber) return Expected(start, "a tensor");
    return value;
  }

  // A number gets its type when it meets a tensor (InferType).
  int AddNumber(const Word& word, float number) {
    GraphNode node;
    node.op = Operation::kNumber;
    node.text = std::string(word.text);
    node.number = number;
    node.position = word.position;
    return Add(std::move(node));
  }

  // NAME, a number, or a call. The result is the value's node.
  absl::StatusOr<int> ParseExpression() {
    const Word word = Take();
    // Calls that are open become nodes when they end.
    if (graph_.nodes.size() + open_calls_ >= kMaxNodes)
      return Expected(word, Cat("at most ", kMaxNodes, " values"));
    if (open_calls_ >= kMostOpenCalls)
      return Expected(word, Cat("at most ", kMostOpenCalls, " calls within one another"));
    if (const OperationInfo* info = FindFunction(word.text); info != nullptr) return ParseCall(word, *info);
    const auto known = names_.find(std::string(word.text));
    if (known != names_.end()) return known->second;
    if (const std::optional<float> number = ParseValueNumber(word.text)) return AddNumber(word, *number);
    // The hint may be a value or an operation.
    std::vector<std::string_view> values = FunctionNames();
    for (const auto& [name, value] : names_) values.push_back(name);
    return Expected(word, "a value that is known, a number, or an operation (see 'kirsch help')",
                    DidYouMean(word.text, values));
  }

  // OP(value {, value} {, OPTION=VALUE})
  absl::StatusOr<int> ParseCall(const Word& word, const OperationInfo& info) {
    GraphNode node = OperationNode(info.op, word.position);
    ++open_calls_;
    absl::Status status = TakeSign("(");
    for (int i = 0; i < info.arguments && status.ok(); ++i) {
      if (i > 0) status = TakeSign(",");
      if (!status.ok()) break;
      absl::StatusOr<int> argument = ParseExpression();
      // Arguments are nodes before the call's own: the graph's nodes come in the order in which they can be
      // computed.
      status = argument.status();
      if (argument.ok()) node.inputs.push_back(*argument);
    }
    if (status.ok() && info.op == Operation::kCast) status = ParseCastType(&node);
    if (status.ok() && info.kind == OperationKind::kRearrange) status = ParseAxes(&node);
    std::vector<std::string_view> given;
    while (status.ok() && Peek().text == ",") {
      Take();
      status = ParseOption(&given, &node);
    }
    if (status.ok()) status = TakeSign(")");
    --open_calls_;
    if (!status.ok()) return status;
    return AddOperation(&graph_, std::move(node), source());
  }

  // The type behind a cast's argument: cast(x, bf16).
  absl::Status ParseCastType(GraphNode* node) {
    KIRSCH_RETURN_IF_ERROR(TakeSign(","));
    absl::StatusOr<Dtype> dtype = ParseDtype(true);
    if (dtype.ok()) node->type.dtype = *dtype;
    return dtype.status();
  }

  // The sizes behind the argument of a copy, or the axes: permute(x, [1,0,2]).
  absl::Status ParseAxes(GraphNode* node) {
    const bool permutes = node->op == Operation::kPermute;
    std::vector<uint32_t>& list = permutes ? node->axes : node->type.dims;
    for (std::string_view sign : {",", "["}) KIRSCH_RETURN_IF_ERROR(TakeSign(sign));
    while (Peek().text != "]") {
      if (!list.empty()) KIRSCH_RETURN_IF_ERROR(TakeSign(","));
      if (list.size() == kMaxRank) return Expected(Peek(), Cat("at most ", kMaxRank, " axes"));
      KIRSCH_ASSIGN_OR_RETURN(const uint32_t number,
                              permutes ? ParseNumber(source(), Peek(), "an axis", 0, int64_t{kMaxRank - 1})
                                       : ParseSize("a size", kMaxSide));
      list.push_back(number);
      if (IsTooLarge(node->type.dims)) return Expected(Peek(), Cat("at most ", kMaxElements, " elements"));
      Take();
    }
    return TakeSign("]");
  }

  // OPTION=VALUE. `given`: options so far; only an axis of a reduction may be given again.
  absl::Status ParseOption(std::vector<std::string_view>* given, GraphNode* node) {
    const Word name = Take();
    const std::vector<std::string_view> known = OptionsOf(node->op);
    if (std::ranges::find(known, name.text) == known.end())
      return Expected(name, known.empty() ? "no more arguments" : Cat("an option (", Join(known, " "), ")"),
                      DidYouMean(name.text, known));
    const bool axis = name.text == "axis";
    const bool several = Info(node->op).kind == OperationKind::kReduction;
    if (!several && std::ranges::find(*given, name.text) != given->end())
      return Expected(name, "each option once");
    given->push_back(name.text);
    KIRSCH_RETURN_IF_ERROR(TakeSign("="));
    const Word value = Take();
    if (name.text == kLhsAsOption) return SetRounding(value, node);
    if (name.text == Info(node->op).option.name) return SetNumber(value, node);
    if (axis) return AddAxis(value, node);
    for (const AlongAxisOption& option : AlongAxisOptionsOf(node->op))
      if (option.name == name.text) return SetAlongAxis(option, value, node);
    return ParseConvolutionOption(source(), name.text,
                                  name.text == kPadOption ? TakeSides(value) : std::vector<Word>{value},
                                  Info(node->op).image_axes, &node->conv);
  }

  // lhs_as=T of a matmul.
  absl::Status SetRounding(const Word& value, GraphNode* node) const {
    const absl::StatusOr<LhsAs> as = ParseLhsAs(source(), value);
    if (as.ok()) node->lhs_as = *as;
    return as.status();
  }

  // The sides of a pad: "1,0,2,0". Numbers after commas are of the other sides, since any other option begins
  // with a name.
  std::vector<Word> TakeSides(const Word& first) {
    std::vector<Word> sides = {first};
    const auto is_digit = [](const Word& word) {
      return !word.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(word.text.front()));
    };
    while (Peek().text == "," && is_digit(PeekBehind())) {
      Take();
      sides.push_back(Take());
    }
    return sides;
  }

  // The number of an operation that has one, such as eps of a norm. What is put around a tensor is an
  // element, which may be infinite.
  absl::Status SetNumber(const Word& value, GraphNode* node) const {
    const std::optional<float> number =
        node->op == Operation::kPad ? ParseValueNumber(value.text) : ParseFinite(value.text);
    if (!number) return Expected(value, "a number");
    node->number = *number;
    // InferType rounds it where it is an f32.
    if (std::isfinite(*number))
      std::from_chars(value.text.data(), value.text.data() + value.text.size(), node->number);
    return absl::OkStatus();
  }

  absl::Status SetAlongAxis(const AlongAxisOption& option, const Word& value, GraphNode* node) const {
    const absl::StatusOr<uint32_t> number =
        ParseNumber(source(), value, Cat(option.name, "="), option.least, option.most);
    if (number.ok()) option.of(node->along) = *number;
    return number.status();
  }

  // Axes are kept in ascending order, whatever their order in the text.
  absl::Status AddAxis(const Word& value, GraphNode* node) const {
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t axis,
                            ParseNumber(source(), value, "axis", 0, int64_t{kMaxRank - 1}));
    const auto place = std::ranges::lower_bound(node->axes, axis);
    if (place != node->axes.end() && *place == axis) return Expected(value, "each axis once");
    node->axes.insert(place, axis);
    return absl::OkStatus();
  }

  const std::optional<absl::Span<const uint32_t>> values_;  // of the sizes that have names
  SizeNames sizes_;
  Graph graph_;
  // Behind "->", which stands before declared_at_; nothing: the kernel does not say what it returns.
  std::vector<TensorType> declared_;
  Word declared_at_;
  std::map<std::string, int> names_;
  size_t open_calls_ = 0;  // values to come
  bool returned_ = false;
};

}  // namespace

std::optional<float> ParseFinite(std::string_view text) {
  float number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || stop != end || error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source) {
  return GraphParser(source).Parse(lines);
}

absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source,
                                 absl::Span<const uint32_t> values) {
  return GraphParser(source, values).Parse(lines);
}

absl::StatusOr<KernelHead> ParseKernelHead(const Word& line, std::string_view source) {
  return GraphParser(source).Head(line);
}

}  // namespace kirsch
