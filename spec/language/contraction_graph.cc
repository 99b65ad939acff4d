// SPDX-License-Identifier: Apache-2.0
#include "spec/language/contraction_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "spec/canonical.h"
#include "spec/element_array.h"
#include "spec/epilogue.h"
#include "spec/graph/builder.h"
#include "spec/graph/epilogue_operations.h"
#include "spec/graph/types.h"
#include "spec/language/convolution_request.h"
#include "spec/language/printer.h"
#include "spec/language/types_parser.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

bool IsContraction(const GraphNode& node) { return Info(node.op).kind == OperationKind::kContraction; }

class ContractionFinder {
 public:
  ContractionFinder(const Graph& graph, std::string_view source)
      : graph_(graph), source_(source), uses_(graph.nodes.size()), has_contraction_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = graph.nodes[i];
      has_contraction_[i] =
          IsContraction(node) || std::any_of(node.inputs.begin(), node.inputs.end(),
                                             [&](int input) { return HasContraction(input); });
    }
  }

  absl::StatusOr<ParsedSpec> Find() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].type.dense())
        return Refused(static_cast<int>(i), "tensors without strides, as yet");
    const auto first = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), IsContraction);
    if (first == graph_.nodes.end()) return Refused(graph_.result, "a contraction");
    contraction_ = static_cast<int>(first - graph_.nodes.begin());
    if (IsConvolution()) convolution_ = MakeRequest();
    if (absl::Status status = WalkToContraction(); !status.ok()) return status;
    if (absl::Status status = AddInputs(); !status.ok()) return status;
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
    absl::StatusOr<ParsedSpec> parsed = IsConvolution() ? MakeConvolution() : MakeMatmul();
    if (parsed.ok()) parsed->parameters = ParametersAs(parsed->swapped);
    return parsed;
  }

 private:
  const GraphNode& At(int node) const { return graph_.nodes[static_cast<size_t>(node)]; }
  absl::Status Refused(int node, std::string_view expected) const {
    return ErrorAt(source_, At(node).position, Cat("expected ", expected));
  }

  bool HasContraction(int node) const { return has_contraction_[static_cast<size_t>(node)]; }
  bool IsConvolution() const { return kirsch::IsConvolution(At(contraction_).op); }

  // A cast that is a step of an epilogue; any other only says what is stored.
  bool Converts(int node) const {
    return At(node).op == Operation::kCast && At(At(node).inputs[0]).type.dtype == Dtype::kS32 &&
           At(node).type.dtype == Dtype::kF32;
  }

  // From the result back; steps_ are in the order of the walk, reversed.
  absl::Status WalkToContraction() {
    int at = graph_.result;
    if (At(at).op == Operation::kCast && !Converts(at)) at = At(at).inputs[0];
    while (at != contraction_) {
      absl::StatusOr<int> next = Step(at);
      if (!next.ok()) return next.status();
      at = *next;
    }
    return absl::OkStatus();
  }

  // The node that this one is a step on.
  absl::StatusOr<int> Step(int node) {
    const GraphNode& at = At(node);
    const OperationInfo& info = Info(at.op);
    if (at.op == Operation::kCast) {
      if (!Converts(node)) return Refused(node, "no cast but from s32 to f32 before the last");
      steps_.push_back({{Operation::kF32}, -1});
    } else if (info.equivalent) {
      steps_.push_back(NumberStep(info.equivalent->op, info.equivalent->number, at.type.dtype));
    } else if (!IsStep(at.op)) {
      return Refused(node, "elementwise operations on one contraction, and nothing else as yet");
    } else if (info.arguments == 2) {
      return BinaryStep(node);
    } else if (info.operands() == 2) {
      steps_.push_back(NumberStep(at.op, at.number, at.type.dtype));
    } else {
      steps_.push_back({{at.op}, -1});
    }
    return at.inputs[0];
  }

  absl::StatusOr<int> BinaryStep(int node) {
    const GraphNode& at = At(node);
    const bool first = HasContraction(at.inputs[0]), second = HasContraction(at.inputs[1]);
    if (first == second)
      return Refused(node,
                     "elementwise operations on one contraction, the other operand being a parameter or a "
                     "number, as yet");
    if (second && (at.op == Operation::kMaxNum || at.op == Operation::kMinNum))
      return Refused(node, "the contraction first, of what is not symmetric, as yet");
    const int chain = at.inputs[first ? 0 : 1], other = at.inputs[first ? 1 : 0];
    const bool reversed = at.op == Operation::kSub && second;  // y - x is -x + y
    EpilogueStep step{reversed ? Operation::kAdd : at.op};
    if (absl::Status status = SetOperand(chain, other, &step); !status.ok()) return status;
    steps_.push_back({step, step.HasOperand() ? other : -1});
    if (reversed) steps_.push_back(NumberStep(Operation::kMul, -1, At(chain).type.dtype));
    return chain;
  }

  // The number, or what of the contraction's output an element of the parameter is for.
  absl::Status SetOperand(int chain, int other, EpilogueStep* step) {
    const GraphNode& operand = At(other);
    if (operand.op == Operation::kNumber) {
      step->operand = EpilogueOperand::kNumber;
      step->number = BitsOf(At(chain).type.dtype, operand.number == 0 ? 0 : operand.number);
      return absl::OkStatus();
    }
    if (operand.op != Operation::kInput) return Refused(other, "a parameter or a number, as yet");
    if (operand.type.dtype != At(chain).type.dtype)
      return Refused(other, Cat("an operand of ", Info(At(chain).type.dtype).name, ", as the value is"));
    ++uses_[static_cast<size_t>(other)];
    const std::vector<uint32_t>& out = At(chain).type.dims;
    std::vector<uint32_t> dims = operand.type.dims;
    if (dims.size() > out.size()) return Refused(other, "no more axes than the contraction has");
    dims.insert(dims.begin(), out.size() - dims.size(), 1);
    EpilogueShapes shapes = OutputShapes();
    for (std::vector<uint32_t>* shape : {&shapes.rows, &shapes.columns})
      shape->insert(shape->begin(), out.size() - shape->size(), 1);
    step->operand = dims == out                                    ? EpilogueOperand::kAll
                    : dims == std::vector<uint32_t>(out.size(), 1) ? EpilogueOperand::kScalar
                    : dims == shapes.columns                       ? EpilogueOperand::kColumns
                    : dims == shapes.rows                          ? EpilogueOperand::kRows
                                                                   : EpilogueOperand::kNone;
    if (step->operand != EpilogueOperand::kNone) return absl::OkStatus();
    return Refused(other, Cat("one element, a row, a column or ", PrintTensorType(At(chain).type), ", got ",
                              PrintTensorType(operand.type)));
  }

  // Without the axes of a batch.
  EpilogueShapes OutputShapes() const {
    const std::vector<uint32_t>& out = At(contraction_).type.dims;
    if (!IsConvolution()) return {{out[out.size() - 2], 1}, {out.back()}, out};
    return convolution_.output_shapes();
  }

  absl::Status AddInputs() {
    for (size_t i = 0; i < 2; ++i) {
      int input = At(contraction_).inputs[i];
      if (!IsConvolution()) {
        if (ItemsPerMatrix(graph_, At(contraction_), i) != 1)
          return Refused(contraction_, "as many matrices on either side, as yet");
        turned_[i] = At(input).op == Operation::kTranspose;
        if (turned_[i]) input = At(input).inputs[0];
      }
      if (At(input).op != Operation::kInput) return Refused(input, "a contraction of parameters, as yet");
      ++uses_[static_cast<size_t>(input)];
      inputs_[i] = input;
    }
    return absl::OkStatus();
  }

  // In the batch.
  int64_t Matrices() const {
    int64_t matrices = 1;
    const std::vector<uint32_t>& dims = At(contraction_).type.dims;
    for (size_t axis = 0; axis + 2 < dims.size(); ++axis) matrices *= dims[axis];
    return matrices;
  }

  // A spec packs one operand ahead, which of a convolution is the filters.
  absl::Status CheckConstants() const {
    int constants = 0;
    for (int i = 0; i < graph_.num_inputs(); ++i) {
      if (!graph_.IsConstant(i)) continue;
      const bool matrix = i == inputs_[1] || (i == inputs_[0] && !IsConvolution());
      if (!matrix || ++constants > 1)
        return Refused(i, "one constant at most, which the contraction multiplies by");
    }
    return absl::OkStatus();
  }

  MatmulTypes Types() const {
    const std::vector<int>& inputs = At(contraction_).inputs;
    return {At(inputs[0]).type.dtype, At(inputs[1]).type.dtype, At(graph_.result).type.dtype};
  }

  Epilogue MakeEpilogue() const {
    const MatmulTypes types = Types();
    Epilogue epilogue;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      epilogue.steps[static_cast<size_t>(epilogue.count++)] = step->step;
    // A type that only an epilogue may end in.
    if (epilogue.empty() && !IsSupported(types)) {
      const bool floats = IsFloating(types.lhs);
      epilogue.count = 1;
      epilogue.steps[0] = {floats ? Operation::kMul : Operation::kAdd, EpilogueOperand::kNumber,
                           floats ? std::bit_cast<uint32_t>(1.0f) : 0};
    }
    return epilogue;
  }

  absl::Status CheckTypesWith(const Epilogue& epilogue) const {
    const MatmulTypes types = Types();
    return CheckTypes(source_, {PrintTypes(types), At(contraction_).position}, types, epilogue);
  }

  absl::StatusOr<ParsedSpec> MakeMatmul() const {
    const TensorType &lhs = At(At(contraction_).inputs[0]).type, &out = At(contraction_).type;
    const size_t n = out.dims.size() - 1;
    if (Matrices() > kMaxSide) return Refused(contraction_, Cat("a batch of at most ", kMaxSide));
    const Epilogue epilogue = MakeEpilogue();
    if (absl::Status known = CheckTypesWith(epilogue); !known.ok()) return known;
    const MatmulTypes types = Types();
    Spec asked;
    asked.op = OpWith(epilogue);
    asked.lhs_as = At(contraction_).lhs_as;
    const std::array<Dtype, 3> dtypes = {types.lhs, types.rhs, types.out};
    for (size_t i = 0; i < dtypes.size(); ++i) asked.operand[i].dtype = dtypes[i];
    for (size_t i = 0; i < 2; ++i) {
      asked.operand[i].layout.order = turned_[i] ? Order::kCol : Order::kRow;
      asked.operand[i].constant = graph_.IsConstant(inputs_[i]) ? 1 : 0;
    }
    const UserSizes sizes = {static_cast<uint32_t>(Matrices()), out.dims[n - 1], lhs.dims[n], out.dims[n]};
    return CanonicalRequest(WithSizes(asked, sizes));
  }

  // But for the epilogue, and so for what is stored.
  ConvolutionRequest MakeRequest() const {
    const GraphNode& node = At(contraction_);
    ConvolutionRequest request;
    request.op = node.op;
    request.sizes = SizesOfConvolution(graph_, node);
    request.options = node.conv;
    request.constant_filters = graph_.IsConstant(node.inputs[1]);
    return request;
  }

  absl::StatusOr<ParsedSpec> MakeConvolution() const {
    ConvolutionRequest request = convolution_;
    request.types = Types();
    request.epilogue = MakeEpilogue();
    if (absl::Status known = CheckTypesWith(request.epilogue); !known.ok()) return known;
    if (request.limit() != ConvolutionLimit::kNone)
      return Refused(contraction_,
                     "a convolution without pads and groups, of one image where channels come first");
    return AsSpec(request);
  }

  // The kernel's parameters. `swapped`: the spec is the transposed problem.
  std::vector<Parameter> ParametersAs(bool swapped) const {
    std::vector<Parameter> parameters;
    for (int i = 0; i < graph_.num_inputs(); ++i)
      parameters.push_back({At(i).text, OperandOf(i, swapped), At(i).type});
    parameters.push_back({"out", MatmulDims::kOut, At(graph_.result).type});
    return parameters;
  }

  // Of the spec, which operand the kernel's parameter is.
  int OperandOf(int input, bool swapped) const {
    for (int matrix : {MatmulDims::kLhs, MatmulDims::kRhs})
      if (input == inputs_[InputOfMatrix(matrix)]) return SwappedOperand(matrix, swapped);
    int operand = MatmulDims::kOut;
    for (auto step = steps_.rbegin(); step->input != input; ++step) operand += step->input >= 0 ? 1 : 0;
    return operand + 1;
  }

  // Which of the contraction's inputs the matrix is.
  size_t InputOfMatrix(int matrix) const {
    if (!IsConvolution()) return static_cast<size_t>(matrix);
    return matrix == InputOperand(At(contraction_).conv.layout) ? 0 : 1;
  }

  struct Taken {
    EpilogueStep step;
    int input;  // that it takes; -1: none
  };

  static uint64_t BitsOf(Dtype type, double number) {
    uint64_t bits = 0;
    StoreElement(type, number, &bits, 0);
    return bits;
  }

  static Taken NumberStep(Operation op, double number, Dtype type) {
    return {{op, EpilogueOperand::kNumber, BitsOf(type, number)}, -1};
  }

  const Graph& graph_;
  const std::string_view source_;
  std::vector<int> uses_;
  std::vector<bool> has_contraction_;  // the node, or one that it is made from
  std::vector<Taken> steps_;
  int contraction_ = -1;
  ConvolutionRequest convolution_;  // if it is one
  std::array<int, 2> inputs_ = {};  // parameters that the contraction multiplies
  std::array<bool, 2> turned_ = {};
};

}  // namespace

absl::StatusOr<ParsedSpec> AsContraction(const Graph& graph, std::string_view source) {
  return ContractionFinder(graph, source).Find();
}

absl::StatusOr<Graph> MatmulGraph(const ParsedSpec& parsed) {
  const Spec& spec = parsed.spec;
  const Epilogue& epilogue = spec.op_info().epilogue;
  bool dense = true;
  for (int i = 0; i <= spec.op_info().output(); ++i)
    dense &= spec.tensor(i).layout.kind == LayoutKind::kStrided &&
             spec.tensor(i).layout.ld == ExtentOf(spec, i).inner;
  if (const Dtype type = spec.operand[0].dtype; !IsOfGraphs(type))
    return absl::InvalidArgumentError(
        Cat("expected a matmul of types that graphs have, got ", Quoted(parsed.text)));
  if (!dense || spec.accumulate || spec.fixed_order != 0 || spec.block != 0 || !IsGraphEpilogue(epilogue))
    return absl::InvalidArgumentError(
        Cat("expected a matmul of dense operands without accumulate, fixed-order, column-blocks and "
            "leaky_relu by a tensor, as a graph is, got ",
            Quoted(parsed.text)));
  const uint32_t b = spec.size[MatmulDims::kB], m = spec.size[MatmulDims::kM], k = spec.size[MatmulDims::kK],
                 n = spec.size[MatmulDims::kN];
  const auto matrices = [&](uint32_t rows, uint32_t columns) {
    return b == 1 ? std::vector<uint32_t>{rows, columns} : std::vector<uint32_t>{b, rows, columns};
  };
  GraphBuilder builder(MakeIdentifier(parsed.text), "spec", {});
  std::array<int, 2> inputs = {};
  const std::array<std::vector<uint32_t>, 2> dims = {matrices(m, k), matrices(k, n)};
  const auto turned = [&](size_t i) { return spec.operand[i].layout.order == Order::kCol; };
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<uint32_t> stored = dims[i];
    if (turned(i)) std::swap(stored.back(), stored[stored.size() - 2]);
    inputs[i] = builder.Parameter(std::string(kMatmulInfo.operands[i].name), spec.operand[i].dtype,
                                  std::move(stored), spec.operand[i].constant != 0);
  }
  const Dtype sum = AccumulatorOf(spec);
  const std::vector<int> parameters =
      AddEpilogueParameters(epilogue, sum, {{m, 1}, {n}, matrices(m, n)}, &builder);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (turned(i)) inputs[i] = builder.Add(Operation::kTranspose, {inputs[i]});
  GraphNode matmul = OperationNode(Operation::kMatmul);
  matmul.inputs = {inputs[0], inputs[1]};
  matmul.lhs_as = spec.lhs_as;
  const int product = builder.Add(std::move(matmul));
  const int result = AddEpilogueSteps(epilogue, sum, spec.out().dtype, product, parameters, &builder);
  return std::move(builder).Build(result);
}

}  // namespace kirsch
