#include "spec/graph_matmul.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "spec/cat.h"
#include "spec/epilogue.h"
#include "spec/matmul_types.h"
#include "spec/printer.h"
#include "spec/shorthand.h"

namespace kirsch {
namespace {

class MatmulFinder {
 public:
  MatmulFinder(const Graph& graph, std::string_view source)
      : graph_(graph), source_(source), uses_(graph.nodes.size()), has_matmul_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = graph.nodes[i];
      has_matmul_[i] =
          node.op == Operation::kMatmul ||
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) { return HasMatmul(input); });
    }
  }

  absl::StatusOr<GraphMatmul> Find() {
    if (absl::Status status = WalkToMatmul(); !status.ok()) return status;
    if (absl::Status status = AddMatrices(); !status.ok()) return status;
    if (absl::Status status = CheckConstants(); !status.ok()) return status;
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (At(static_cast<int>(i)).op == Operation::kInput && uses_[i] != 1)
        return Refused(static_cast<int>(i),
                       Cat("every parameter to be used once, ", At(static_cast<int>(i)).text,
                           uses_[i] == 0 ? " is not" : " is more often"));
    const auto operands =
        std::count_if(steps_.begin(), steps_.end(), [](const Taken& step) { return step.input >= 0; });
    if (std::ssize(steps_) > kMaxEpilogueSteps || operands > kMaxEpilogueOperands)
      return Refused(graph_.result, Cat("an epilogue of at most ", kMaxEpilogueSteps, " steps and ",
                                        kMaxEpilogueOperands, " operands"));
    return GraphMatmul{SpecText(), Operands()};
  }

 private:
  const GraphNode& At(int node) const { return graph_.nodes[static_cast<size_t>(node)]; }
  absl::Status Refused(int node, std::string_view expected) const {
    return ErrorAt(source_, At(node).position, Cat("expected ", expected));
  }

  bool HasMatmul(int node) const { return has_matmul_[static_cast<size_t>(node)]; }

  // A cast that is a step of an epilogue; any other only says what is stored.
  bool Converts(int node) const {
    return At(node).op == Operation::kCast && At(At(node).inputs[0]).type.dtype == Dtype::kS32 &&
           At(node).type.dtype == Dtype::kF32;
  }

  // From the result back; steps_ are in the order of the walk, reversed.
  absl::Status WalkToMatmul() {
    int at = graph_.result;
    if (At(at).op == Operation::kCast && !Converts(at)) at = At(at).inputs[0];
    while (At(at).op != Operation::kMatmul) {
      absl::StatusOr<int> next = Step(at);
      if (!next.ok()) return next.status();
      at = *next;
    }
    matmul_ = at;
    return absl::OkStatus();
  }

  // The node that this one is a step on.
  absl::StatusOr<int> Step(int node) {
    const GraphNode& at = At(node);
    const OperationInfo& info = Info(at.op);
    if (at.op == Operation::kCast) {
      if (!Converts(node)) return Refused(node, "no cast but from s32 to f32 before the last");
      steps_.push_back({std::string(Name(Operation::kF32)), -1});
    } else if (info.equivalent) {
      steps_.push_back({Cat(Name(info.equivalent->op), ":", PrintNumber(info.equivalent->number)), -1});
    } else if (!IsStep(at.op)) {
      return Refused(node, "elementwise operations on one matmul, and nothing else as yet");
    } else if (info.arguments == 2) {
      return BinaryStep(node);
    } else {
      const std::string number = info.operands() == 1 ? "" : Cat(":", PrintNumber(at.number));
      steps_.push_back({Cat(info.name, number), -1});
    }
    return at.inputs[0];
  }

  absl::StatusOr<int> BinaryStep(int node) {
    const GraphNode& at = At(node);
    const bool first = HasMatmul(at.inputs[0]), second = HasMatmul(at.inputs[1]);
    if (first == second)
      return Refused(
          node,
          "elementwise operations on one matmul, the other operand being a parameter or a number, as yet");
    const int chain = at.inputs[first ? 0 : 1], other = at.inputs[first ? 1 : 0];
    absl::StatusOr<std::string> operand = OperandText(chain, other);
    if (!operand.ok()) return operand.status();
    const int input = At(other).op == Operation::kInput ? other : -1;
    const bool reversed = at.op == Operation::kSub && second;  // y - x is -x + y
    steps_.push_back({Cat(reversed ? "add" : Info(at.op).name, ":", *operand), input});
    if (reversed) steps_.push_back({"mul:-1", -1});
    return chain;
  }

  // "n", "0.5"
  absl::StatusOr<std::string> OperandText(int chain, int other) {
    const GraphNode& operand = At(other);
    if (operand.op == Operation::kNumber) return operand.text;
    if (operand.op != Operation::kInput) return Refused(other, "a parameter or a number, as yet");
    if (operand.type.dtype != At(chain).type.dtype)
      return Refused(other, Cat("an operand of ", Info(At(chain).type.dtype).name, ", as the value is"));
    ++uses_[static_cast<size_t>(other)];
    const std::vector<uint32_t>& out = At(chain).type.dims;
    std::vector<uint32_t> dims = operand.type.dims;
    if (dims.size() > out.size()) return Refused(other, "no more axes than the matmul has");
    dims.insert(dims.begin(), out.size() - dims.size(), 1);
    const size_t n = out.size() - 1, m = n - 1;
    const bool batch = std::any_of(dims.begin(), dims.end() - 2, [](uint32_t size) { return size != 1; });
    if (dims == out) return "mn";
    if (!batch && dims[m] == 1 && dims[n] == 1) return "scalar";
    if (!batch && dims[m] == 1 && dims[n] == out[n]) return "n";
    if (!batch && dims[n] == 1 && dims[m] == out[m]) return "m";
    return Refused(other, Cat("one element, a row, a column or ", PrintTensorType(At(chain).type), ", got ",
                              PrintTensorType(operand.type)));
  }

  absl::Status AddMatrices() {
    for (size_t i = 0; i < 2; ++i) {
      int input = At(matmul_).inputs[i];
      turned_[i] = At(input).op == Operation::kTranspose;
      if (turned_[i]) input = At(input).inputs[0];
      if (At(input).op != Operation::kInput) return Refused(input, "a matmul of parameters, as yet");
      ++uses_[static_cast<size_t>(input)];
      matrices_[i] = input;
    }
    return absl::OkStatus();
  }

  // In the batch.
  int64_t Matrices() const {
    int64_t matrices = 1;
    const std::vector<uint32_t>& dims = At(matmul_).type.dims;
    for (size_t axis = 0; axis + 2 < dims.size(); ++axis) matrices *= dims[axis];
    return matrices;
  }

  // A spec packs one matrix ahead.
  absl::Status CheckConstants() const {
    const bool batched = Matrices() > 1;
    int constants = 0;
    for (int i = 0; i < graph_.num_inputs(); ++i) {
      if (!graph_.IsConstant(i)) continue;
      const bool matrix = i == matrices_[0] || i == matrices_[1];
      if (!matrix || batched || ++constants > 1)
        return Refused(i, "one constant at most, a matrix of a matmul without a batch");
    }
    return absl::OkStatus();
  }

  std::string SpecText() const {
    const TensorType &lhs = At(At(matmul_).inputs[0]).type, &out = At(matmul_).type;
    const size_t n = out.dims.size() - 1;
    const MatmulTypes types{lhs.dtype, At(At(matmul_).inputs[1]).type.dtype, At(graph_.result).type.dtype};
    std::string text = Cat(kMatmulInfo.name, " ", PrintTypes(types), " ");
    if (Matrices() > 1) Append(&text, Matrices(), ":");
    Append(&text, out.dims[n - 1], "x", lhs.dims[n], "x", out.dims[n]);
    if (turned_[0]) Append(&text, " lhs=col");
    if (turned_[1]) Append(&text, " rhs=col");
    for (size_t i = 0; i < 2; ++i)
      if (graph_.IsConstant(matrices_[i])) Append(&text, " ", kConstantPrefix, i == 0 ? "lhs" : "rhs");
    std::string epilogue =
        absl::StrJoin(steps_.rbegin(), steps_.rend(), ",",
                      [](std::string* joined, const Taken& step) { joined->append(step.text); });
    // A type that only an epilogue may end in.
    if (epilogue.empty() && !IsSupported(types)) epilogue = IsFloating(lhs.dtype) ? "mul:1" : "add:0";
    return epilogue.empty() ? text : Cat(text, " epilogue=", epilogue);
  }

  std::string Operands() const {
    std::string text = Cat("lhs = ", At(matrices_[0]).text, ", rhs = ", At(matrices_[1]).text);
    int number = 0;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      if (step->input >= 0) Append(&text, ", arg", ++number, " = ", At(step->input).text);
    return text;
  }

  struct Taken {
    std::string text;
    int input;  // that it takes; -1: none
  };

  const Graph& graph_;
  const std::string_view source_;
  std::vector<int> uses_;
  std::vector<bool> has_matmul_;  // the node, or one that it is made from
  std::vector<Taken> steps_;
  int matmul_ = -1;
  std::array<int, 2> matrices_ = {};
  std::array<bool, 2> turned_ = {};
};

}  // namespace

absl::StatusOr<GraphMatmul> AsMatmul(const Graph& graph, std::string_view source) {
  return MatmulFinder(graph, source).Find();
}

}  // namespace kirsch
