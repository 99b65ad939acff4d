#include "spec/graph_parser.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "spec/cat.h"
#include "spec/identifier.h"
#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch {
namespace {

constexpr size_t kMaxRank = 3;
constexpr size_t kMaxNodes = 64;

bool IsWordCharacter(char c) {
  return c == '_' || c == '.' || absl::ascii_isalnum(static_cast<unsigned char>(c));
}
bool IsBlank(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

// The pieces of a line: words (names, numbers with their sign) and single signs, "->" being one; last, an
// empty one.
std::vector<Word> Tokens(const Word& line) {
  std::vector<Word> tokens;
  size_t at = 0;
  const std::string_view text = line.text;
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    size_t end = std::min(at + 1, text.size());
    if (at < text.size() && (IsWordCharacter(text[at]) || text[at] == '-')) {
      while (end < text.size() && (IsWordCharacter(text[end]) || (text[end - 1] == 'e' && text[end] == '-')))
        ++end;
      if (end == at + 1 && text[at] == '-' && end < text.size() && text[end] == '>') ++end;
    }
    tokens.push_back(line.Part(at, end - at));
    if (at == text.size()) return tokens;
    at = end;
  }
}

const GraphOpInfo* FindOp(std::string_view name) {
  const auto found = std::find_if(kGraphOps.begin(), kGraphOps.end(), [&](const GraphOpInfo& info) {
    return !name.empty() && info.name == name;
  });
  return found == kGraphOps.end() ? nullptr : &*found;
}

std::string OpNames() {
  std::string names;
  for (const GraphOpInfo& info : kGraphOps)
    if (!info.name.empty()) Append(&names, names.empty() ? "" : " ", info.name);
  return names;
}

// The type of an elementwise result, each axis of which is as long as the longer operand's.
bool Broadcast(const TensorType& a, const TensorType& b, TensorType* result) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  result->dtype = a.dtype;
  result->dims.assign(rank, 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    const auto size = [&](const TensorType& type) {
      const size_t missing = rank - type.dims.size();
      return axis < missing ? 1u : type.dims[axis - missing];
    };
    if (size(a) != size(b) && size(a) != 1 && size(b) != 1) return false;
    result->dims[axis] = std::max(size(a), size(b));
  }
  return a.dtype == b.dtype;
}

class GraphParser {
 public:
  explicit GraphParser(std::string_view source) : source_(source) {}

  absl::StatusOr<Graph> Parse(absl::Span<const Word> lines) {
    if (absl::Status status = ParseHead(lines.front()); !status.ok()) return status;
    for (const Word& line : lines.subspan(1))
      if (absl::Status status = ParseStatement(line); !status.ok()) return status;
    if (!returned_)
      return ErrorAt(source_, lines.back().position, Cat("expected a line 'return ...' in ", graph_.name));
    return std::move(graph_);
  }

 private:
  const Word& Peek() const { return tokens_[next_]; }
  Word Take() { return next_ + 1 < tokens_.size() ? tokens_[next_++] : tokens_.back(); }
  absl::Status Expected(const Word& word, std::string_view what) const {
    return ExpectedAt(source_, word, what);
  }
  absl::Status TakeSign(std::string_view sign) {
    if (Peek().text != sign) return Expected(Peek(), Cat("'", sign, "'"));
    Take();
    return absl::OkStatus();
  }
  void Start(const Word& line) {
    tokens_ = Tokens(line);
    next_ = 0;
  }
  int Add(GraphNode node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }
  const TensorType& TypeOf(int node) const { return graph_.nodes[static_cast<size_t>(node)].type; }

  // kernel NAME(NAME: TYPE, ...) -> TYPE:
  absl::Status ParseHead(const Word& line) {
    Start(line);
    Take();
    const Word name = Take();
    if (!IsIdentifier(name.text)) return Expected(name, "the kernel's name");
    graph_.name = std::string(name.text);
    absl::Status status = TakeSign("(");
    do {
      if (status.ok()) status = ParseParameter();
    } while (status.ok() && Peek().text == "," && !Take().text.empty());
    if (status.ok()) status = TakeSign(")");
    if (status.ok()) status = TakeSign("->");
    if (status.ok()) status = ParseType(&declared_);
    if (status.ok()) status = TakeSign(":");
    return status.ok() ? ExpectEnd() : status;
  }

  absl::Status ExpectEnd() const {
    return Peek().text.empty() ? absl::OkStatus() : Expected(Peek(), "the end of the line");
  }

  absl::Status ParseParameter() {
    const Word name = Take();
    GraphNode input;
    input.text = std::string(name.text);
    input.position = name.position;
    if (absl::Status status = CheckNewName(name); !status.ok()) return status;
    if (absl::Status status = TakeSign(":"); !status.ok()) return status;
    if (absl::Status status = ParseType(&input.type); !status.ok()) return status;
    names_[input.text] = Add(input);
    return absl::OkStatus();
  }

  absl::Status CheckNewName(const Word& name) const {
    if (!IsIdentifier(name.text) || name.text == "return" || FindOp(name.text) != nullptr)
      return Expected(name, "a name (letters, digits, underscores; no digit first, no operation)");
    if (names_.contains(std::string(name.text))) return Expected(name, "a name that is not taken");
    return absl::OkStatus();
  }

  absl::StatusOr<Dtype> ParseDtype() {
    const Word word = Take();
    for (size_t i = 0; i < kCallersDtypes; ++i)
      if (kDtypes[i].name == word.text) return kDtypes[i].dtype;
    return Expected(word, "an element type (f32 bf16 f16 u8 s8 s16 s32)");
  }

  // T[M,N]
  absl::Status ParseType(TensorType* type) {
    absl::StatusOr<Dtype> dtype = ParseDtype();
    if (!dtype.ok()) return dtype.status();
    type->dtype = *dtype;
    if (absl::Status status = TakeSign("["); !status.ok()) return status;
    while (Peek().text != "]") {
      if (!type->dims.empty())
        if (absl::Status status = TakeSign(","); !status.ok()) return status;
      absl::StatusOr<uint32_t> size = ParseNumber(source_, Peek(), "a size", 1, kMaxSide);
      if (!size.ok()) return size.status();
      if (type->dims.size() == kMaxRank) return Expected(Peek(), Cat("at most ", kMaxRank, " axes"));
      type->dims.push_back(*size);
      Take();
    }
    return TakeSign("]");
  }

  // NAME = EXPRESSION, or return EXPRESSION
  absl::Status ParseStatement(const Word& line) {
    Start(line);
    const Word first = Take();
    const bool returns = first.text == "return";
    if (returned_) return Expected(first, "nothing after the return");
    if (!returns) {
      if (absl::Status status = CheckNewName(first); !status.ok()) return status;
      if (absl::Status status = TakeSign("="); !status.ok()) return status;
    }
    const Word start = Peek();
    absl::StatusOr<int> value = ParseExpression();
    if (!value.ok()) return value.status();
    if (absl::Status status = ExpectEnd(); !status.ok()) return status;
    if (graph_.nodes[static_cast<size_t>(*value)].op == GraphOp::kNumber) return Expected(start, "a tensor");
    if (!returns) {
      names_[std::string(first.text)] = *value;
      return absl::OkStatus();
    }
    returned_ = true;
    graph_.result = *value;
    if (TypeOf(*value) == declared_) return absl::OkStatus();
    return ErrorAt(source_, start.position,
                   Cat("expected ", PrintTensorType(declared_), ", as ", graph_.name, " returns, got ",
                       PrintTensorType(TypeOf(*value))));
  }

  absl::StatusOr<int> ParseExpression() {
    const Word word = Take();
    if (graph_.nodes.size() + open_calls_ >= kMaxNodes)
      return Expected(word, Cat("at most ", kMaxNodes, " values"));
    if (const GraphOpInfo* info = FindOp(word.text); info != nullptr) return ParseCall(word, *info);
    const auto known = names_.find(std::string(word.text));
    if (known != names_.end()) return known->second;
    float number = 0;
    const char* const end = word.text.data() + word.text.size();
    if (!word.text.empty() && std::from_chars(word.text.data(), end, number).ptr == end)
      return Add({GraphOp::kNumber, {}, {}, std::string(word.text), word.position});
    return Expected(word, Cat("a value that is known, a number, or an operation (", OpNames(), ")"));
  }

  absl::StatusOr<int> ParseCall(const Word& word, const GraphOpInfo& info) {
    GraphNode node;
    node.op = info.op;
    node.position = word.position;
    ++open_calls_;
    absl::Status status = TakeSign("(");
    for (size_t i = 0; i < info.arguments && status.ok(); ++i) {
      if (i > 0) status = TakeSign(",");
      if (!status.ok()) break;
      if (info.op == GraphOp::kCast && i == 1) {
        absl::StatusOr<Dtype> dtype = ParseDtype();
        status = dtype.status();
        if (dtype.ok()) node.type.dtype = *dtype;
      } else {
        absl::StatusOr<int> argument = ParseExpression();
        status = argument.status();
        if (argument.ok()) node.inputs.push_back(*argument);
      }
    }
    if (status.ok()) status = TakeSign(")");
    if (status.ok()) status = Infer(&node);
    --open_calls_;
    if (!status.ok()) return status;
    return Add(std::move(node));
  }

  // The node's type, from those of its inputs.
  absl::Status Infer(GraphNode* node) {
    const auto wrong = [&](const std::string& what) {
      const std::string types = absl::StrJoin(node->inputs, " and ", [&](std::string* text, int input) {
        const GraphNode& from = graph_.nodes[static_cast<size_t>(input)];
        text->append(from.op == GraphOp::kNumber ? from.text : PrintTensorType(from.type));
      });
      return ErrorAt(source_, node->position, Cat("expected ", what, ", got ", types));
    };
    switch (node->op) {
      case GraphOp::kMatmul:
        return InferMatmul(node) ? absl::OkStatus()
                                 : wrong("matrices [..,M,K] and [..,K,N] of types that go together");
      case GraphOp::kTranspose:
        node->type = TypeOf(node->inputs[0]);
        if (node->type.dims.size() < 2) return wrong("two axes at least");
        std::swap(node->type.dims.back(), node->type.dims[node->type.dims.size() - 2]);
        return absl::OkStatus();
      case GraphOp::kRelu:
      case GraphOp::kCast: {
        const Dtype dtype = node->op == GraphOp::kCast ? node->type.dtype : TypeOf(node->inputs[0]).dtype;
        if (graph_.nodes[static_cast<size_t>(node->inputs[0])].op == GraphOp::kNumber)
          return wrong("a tensor");
        node->type = TypeOf(node->inputs[0]);
        node->type.dtype = dtype;
        return absl::OkStatus();
      }
      default:
        return InferElementwise(node) ? absl::OkStatus()
                                      : wrong("tensors of one type whose shapes go together");
    }
  }

  bool InferMatmul(GraphNode* node) const {
    const TensorType &lhs = TypeOf(node->inputs[0]), &rhs = TypeOf(node->inputs[1]);
    const size_t rank = lhs.dims.size();
    if (rank < 2 || rhs.dims.size() != rank || lhs.dims[rank - 1] != rhs.dims[rank - 2]) return false;
    if (rank == 3 && lhs.dims[0] != rhs.dims[0]) return false;
    const auto goes = [&](const MatmulTypes& row) { return IsSupported({lhs.dtype, rhs.dtype, row.out}); };
    node->type = lhs;
    node->type.dtype = AccumulatorOf(lhs.dtype);
    node->type.dims[rank - 1] = rhs.dims[rank - 1];
    return std::any_of(kMatmulTypes.begin(), kMatmulTypes.end(), goes);
  }

  bool InferElementwise(GraphNode* node) {
    GraphNode &a = graph_.nodes[static_cast<size_t>(node->inputs[0])],
              &b = graph_.nodes[static_cast<size_t>(node->inputs[1])];
    if (a.op == GraphOp::kNumber && b.op == GraphOp::kNumber) return false;
    if (a.op == GraphOp::kNumber) a.type.dtype = b.type.dtype;
    if (b.op == GraphOp::kNumber) b.type.dtype = a.type.dtype;
    return Broadcast(a.type, b.type, &node->type);
  }

  const std::string_view source_;
  Graph graph_;
  TensorType declared_;
  std::map<std::string, int> names_;
  std::vector<Word> tokens_;
  size_t next_ = 0;
  size_t open_calls_ = 0;  // values to come
  bool returned_ = false;
};

}  // namespace

std::string PrintTensorType(const TensorType& type) {
  return Cat(Info(type.dtype).name, "[", absl::StrJoin(type.dims, ","), "]");
}

absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source) {
  return GraphParser(source).Parse(lines);
}

}  // namespace kirsch
