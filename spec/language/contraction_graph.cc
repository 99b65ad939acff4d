// SPDX-License-Identifier: Apache-2.0
#include "spec/language/contraction_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
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
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

bool IsContraction(const GraphNode& node) { return Info(node.op).kind == OperationKind::kContraction; }

// Finds the contraction of a graph, and the epilogue's steps between it and the result.
//
// A graph is such a chain if one path leads from the result back to the contraction, and everything beside
// the path is a parameter or a number. So the finder walks back from the result, and turns each operation on
// its way into a step:
//
//   result <- relu <- add(., b) <- matmul(x, w)     steps_ after the walk: relu, add:n
//
// Whatever does not fit is refused with the place of the node; AsContraction's callers try another form then.
class ContractionFinder {
 public:
  ContractionFinder(const Graph& graph, std::string_view source)
      : graph_(graph), source_(source), uses_(graph.nodes.size()), has_contraction_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = graph.nodes[i];
      // Inputs come before their users, so one pass in the nodes' order is enough.
      has_contraction_[i] = IsContraction(node) || std::ranges::any_of(node.inputs, [&](int input) {
                              return HasContraction(input);
                            });
    }
  }

  // The spec, or why there is none. The order of the checks is that of the messages: the first one that fails
  // is what the user reads.
  absl::StatusOr<ParsedSpec> Find() {
    if (graph_.results.size() != 1) return Refused(graph_.results[1].value, "a single result");
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].type.dense())
        return Refused(static_cast<int>(i), "tensors without strides, as yet");
    const auto first = std::ranges::find_if(graph_.nodes, IsContraction);
    if (first == graph_.nodes.end()) return Refused(graph_.only_result(), "a contraction");
    contraction_ = static_cast<int>(first - graph_.nodes.begin());
    if (IsTransposedConvolution(At(contraction_).op))
      return Refused(contraction_, "a contraction that is no transposed convolution");
    if (IsConvolution()) convolution_ = MakeRequest();
    KIRSCH_RETURN_IF_ERROR(WalkToContraction());
    KIRSCH_RETURN_IF_ERROR(AddInputs());
    KIRSCH_RETURN_IF_ERROR(CheckConstants());
    // A parameter that is used twice would be two operands of the spec; one that is unused, none.
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (At(static_cast<int>(i)).op == Operation::kInput && uses_[i] != 1)
        return Refused(static_cast<int>(i),
                       Cat("every parameter to be used once, ", At(static_cast<int>(i)).text,
                           uses_[i] == 0 ? " is not" : " is more often"));
    // The epilogue of a spec has room for so many steps, and operands in memory.
    const auto operands = std::ranges::count_if(steps_, [](const Taken& step) { return step.input >= 0; });
    if (std::ssize(steps_) > kMaxEpilogueSteps || operands > kMaxEpilogueOperands)
      return Refused(graph_.only_result(), Cat("an epilogue of at most ", kMaxEpilogueSteps, " steps and ",
                                               kMaxEpilogueOperands, " operands"));
    absl::StatusOr<ParsedSpec> parsed = IsConvolution() ? MakeConvolution() : MakeMatmul();
    if (parsed.ok()) parsed->parameters = ParametersAs(parsed->swapped);
    return parsed;
  }

 private:
  const GraphNode& At(int node) const { return graph_.nodes[static_cast<size_t>(node)]; }
  // An error at the place of a node: "expected ...".
  absl::Status Refused(int node, std::string_view expected) const {
    return ErrorAt(source_, At(node).position, Cat("expected ", expected));
  }

  // Is the value made from the contraction? Such an operand of an operation is the one on the path.
  bool HasContraction(int node) const { return has_contraction_[static_cast<size_t>(node)]; }
  bool IsConvolution() const { return kirsch::IsConvolution(At(contraction_).op); }

  // Is the node a cast that is a step of an epilogue? That is one of s32 to f32. Any other cast only says
  // what type is stored, so it may stand at the end alone.
  bool Converts(int node) const {
    return At(node).op == Operation::kCast && At(At(node).inputs[0]).type.dtype == Dtype::kS32 &&
           At(node).type.dtype == Dtype::kF32;
  }

  // Walks from the result back. `steps_` are in the order of the walk, so MakeEpilogue reverses them.
  absl::Status WalkToContraction() {
    int at = graph_.only_result();
    if (At(at).op == Operation::kCast && !Converts(at)) at = At(at).inputs[0];
    while (at != contraction_) {
      KIRSCH_ASSIGN_OR_RETURN(at, Step(at));
    }
    return absl::OkStatus();
  }

  // Adds the step that the node is, and returns the node that it is a step on: the next one of the walk.
  absl::StatusOr<int> Step(int node) {
    const GraphNode& at = At(node);
    const OperationInfo& info = Info(at.op);
    if (at.op == Operation::kCast) {
      if (!Converts(node)) return Refused(node, "no cast but from s32 to f32 before the last");
      steps_.push_back({{Operation::kF32}, -1});
    } else if (info.equivalent) {
      // relu is max:0, neg is mul:-1: the spec has one form of each.
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

  // An operation of two values. One of them is on the path; the other one is the step's operand.
  absl::StatusOr<int> BinaryStep(int node) {
    const GraphNode& at = At(node);
    const bool first = HasContraction(at.inputs[0]), second = HasContraction(at.inputs[1]);
    // Both: then there are two paths. None: then the walk has left the path, as it began at something that
    // has no contraction.
    if (first == second)
      return Refused(node,
                     "elementwise operations on one contraction, the other operand being a parameter or a "
                     "number, as yet");
    // A step has the path's value as its first argument. These two are not symmetric: if either argument is a
    // NaN, or both are equal, the second comes out.
    if (second && (at.op == Operation::kMaxNum || at.op == Operation::kMinNum))
      return Refused(node, "the contraction first, of what is not symmetric, as yet");
    const int chain = at.inputs[first ? 0 : 1], other = at.inputs[first ? 1 : 0];
    // Steps are in the order of the walk, which goes backwards: what is done first is pushed last.
    const bool reversed = at.op == Operation::kSub && second;  // y - x is -x + y
    EpilogueStep step{reversed ? Operation::kAdd : at.op};
    KIRSCH_RETURN_IF_ERROR(SetOperand(chain, other, &step));
    steps_.push_back({step, step.HasOperand() ? other : -1});
    if (reversed) steps_.push_back(NumberStep(Operation::kMul, -1, At(chain).type.dtype));
    return chain;
  }

  // Sets the step's operand: a number, or which elements of the contraction's output an element of the
  // parameter is for.
  absl::Status SetOperand(int chain, int other, EpilogueStep* step) {
    const GraphNode& operand = At(other);
    if (operand.op == Operation::kNumber) {
      if (!std::isfinite(operand.number)) return Refused(other, "a finite number");
      step->operand = EpilogueOperand::kNumber;
      // -0 becomes 0: the text of a spec has one form of it.
      step->number = BitsOf(At(chain).type.dtype, operand.number == 0 ? 0 : operand.number);
      return absl::OkStatus();
    }
    if (operand.op != Operation::kInput) return Refused(other, "a parameter or a number, as yet");
    if (operand.type.dtype != At(chain).type.dtype)
      return Refused(other, Cat("an operand of ", Info(At(chain).type.dtype).name, ", as the value is"));
    ++uses_[static_cast<size_t>(other)];
    // Smaller tensors are repeated as in NumPy: axes that are missing come first and have size 1. So b:
    // f32[32] beside f32[8,32] is [1,32], which is the shape of `columns`: one element for each column.
    const std::vector<uint32_t>& out = At(chain).type.dims;
    std::vector<uint32_t> dims = operand.type.dims;
    if (dims.size() > out.size()) return Refused(other, "no more axes than the contraction has");
    // A copy lies between.
    if (out.size() != At(contraction_).type.dims.size())
      return Refused(chain, "elementwise operations on one contraction, and nothing else as yet");
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

  // The shapes that an operand of the epilogue may have: of a matmul's rows, columns, and of all, without the
  // axes of a batch.
  EpilogueShapes OutputShapes() const {
    const std::vector<uint32_t>& out = At(contraction_).type.dims;
    if (!IsConvolution()) return {{out[out.size() - 2], 1}, {out.back()}, out};
    return convolution_.output_shapes();
  }

  // Takes the two matrices, or the image and the filters. A matrix may be the transpose of a parameter, which
  // the spec says by the order of its layout.
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

  // How many matrices the batch has.
  int64_t Matrices() const {
    int64_t matrices = 1;
    const std::vector<uint32_t>& dims = At(contraction_).type.dims;
    for (size_t axis = 0; axis + 2 < dims.size(); ++axis) matrices *= dims[axis];
    return matrices;
  }

  // A spec has one constant operand at most, which is packed once, ahead. Of a convolution that is the
  // filters. Constants among the epilogue's operands have no form in a spec.
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

  // Of the inputs and of what is stored in the end, whatever types are in between.
  MatmulTypes Types() const {
    const std::vector<int>& inputs = At(contraction_).inputs;
    return {At(inputs[0]).type.dtype, At(inputs[1]).type.dtype, At(graph_.only_result()).type.dtype};
  }

  // The steps from the contraction to the result.
  Epilogue MakeEpilogue() const {
    const MatmulTypes types = Types();
    Epilogue epilogue;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      epilogue.steps[static_cast<size_t>(epilogue.count++)] = step->step;
    // There are types of output that matmuls have only behind an epilogue. So a step is added that changes
    // nothing: x * 1 of floats, which keeps the sign of a zero, or x + 0 of integers.
    if (epilogue.empty() && !IsSupported(types)) {
      const bool floats = IsFloating(types.lhs);
      epilogue.count = 1;
      epilogue.steps[0] = {floats ? Operation::kMul : Operation::kAdd, EpilogueOperand::kNumber,
                           floats ? std::bit_cast<uint32_t>(1.0f) : 0};
    }
    return epilogue;
  }

  // The types' error has the place of the contraction, as no word of the text lists them.
  absl::Status CheckTypesWith(const Epilogue& epilogue) const {
    const MatmulTypes types = Types();
    return CheckTypes(source_, {PrintTypes(types), At(contraction_).position}, types, epilogue);
  }

  // A matmul is stated as a user would state it in a shorthand. CanonicalRequest brings it into its canonical
  // form.
  absl::StatusOr<ParsedSpec> MakeMatmul() const {
    const TensorType &lhs = At(At(contraction_).inputs[0]).type, &out = At(contraction_).type;
    const size_t n = out.dims.size() - 1;
    if (Matrices() > kMaxSide) return Refused(contraction_, Cat("a batch of at most ", kMaxSide));
    const Epilogue epilogue = MakeEpilogue();
    KIRSCH_RETURN_IF_ERROR(CheckTypesWith(epilogue));
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

  // The convolution as far as its node says it. The epilogue, and the type of what is stored, come when the
  // walk is done.
  ConvolutionRequest MakeRequest() const {
    const GraphNode& node = At(contraction_);
    ConvolutionRequest request;
    request.op = node.op;
    request.sizes = SizesOfConvolution(graph_, node);
    request.options = node.conv;
    request.constant_filters = graph_.IsConstant(node.inputs[1]);
    return request;
  }

  // A convolution with pads or groups is no single contraction: it needs a graph (ConvolutionRequest::limit).
  absl::StatusOr<ParsedSpec> MakeConvolution() const {
    ConvolutionRequest request = convolution_;
    request.types = Types();
    request.epilogue = MakeEpilogue();
    KIRSCH_RETURN_IF_ERROR(CheckTypesWith(request.epilogue));
    if (request.limit() != ConvolutionLimit::kNone)
      return Refused(contraction_,
                     "a convolution without pads, groups and blocks, of one image where channels come first");
    return AsSpec(request);
  }

  // The kernel's parameters, and then out: which operand of the spec each is. `swapped`: the spec is the
  // transposed problem, so lhs and rhs have changed places.
  std::vector<Parameter> ParametersAs(bool swapped) const {
    std::vector<Parameter> parameters;
    for (int i = 0; i < graph_.num_inputs(); ++i)
      parameters.push_back({At(i).text, OperandOf(i, swapped), At(i).type});
    parameters.push_back({"out", MatmulDims::kOut, At(graph_.only_result()).type});
    return parameters;
  }

  // Which operand of the spec a parameter of the kernel is. Operands of the epilogue follow out, in the order
  // of their steps; steps_ is reversed.
  int OperandOf(int input, bool swapped) const {
    for (int matrix : {MatmulDims::kLhs, MatmulDims::kRhs})
      if (input == inputs_[InputOfMatrix(matrix)]) return SwappedOperand(matrix, swapped);
    int operand = MatmulDims::kOut;
    for (auto step = steps_.rbegin(); step->input != input; ++step) operand += step->input >= 0 ? 1 : 0;
    return operand + 1;
  }

  // Which of the contraction's inputs becomes lhs or rhs. A convolution's image comes first in a graph; which
  // side of the matmul it is depends on the layout.
  size_t InputOfMatrix(int matrix) const {
    if (!IsConvolution()) return static_cast<size_t>(matrix);
    return matrix == InputOperand(At(contraction_).conv.layout) ? 0 : 1;
  }

  struct Taken {
    EpilogueStep step;
    int input;  // that it takes; -1: none
  };

  // The bits of a number in the type that the step computes in, as EpilogueStep keeps them.
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
  // For each node of the graph, how often the contraction or a step takes it.
  std::vector<int> uses_;
  std::vector<bool> has_contraction_;  // the node, or one that it is made from
  // From the result to the contraction, the reverse of the epilogue's order.
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
  // Graphs have dense tensors of their own types, and no options of matmuls but lhs_as.
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
  // The axes of an operand, by rows. Graphs know no batch of one: such an operand is a matrix.
  const auto dims_of = [&](int operand) {
    const AxisArray extents = AxisExtents(spec, operand);
    std::vector<uint32_t> dims(extents.begin(), extents.begin() + 3);
    if (dims.front() == 1) dims.erase(dims.begin());
    return dims;
  };
  GraphBuilder builder(MakeIdentifier(parsed.text), "spec", {});
  std::array<int, 2> inputs = {};
  // A column-major operand is the transpose of a parameter that lies by rows.
  const auto turned = [&](size_t i) { return spec.operand[i].layout.order == Order::kCol; };
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<uint32_t> stored = dims_of(static_cast<int>(i));
    if (turned(i)) std::swap(stored.back(), stored[stored.size() - 2]);
    inputs[i] = builder.Parameter(std::string(kMatmulInfo.operands[i].name), spec.operand[i].dtype,
                                  std::move(stored), spec.operand[i].constant != 0);
  }
  // The nodes in their order: parameters, transposes, the matmul, the epilogue.
  const Dtype sum = AccumulatorOf(spec);
  const std::vector<uint32_t> out = dims_of(spec.op_info().output());
  const std::vector<int> parameters =
      AddEpilogueParameters(epilogue, sum, {{out[out.size() - 2], 1}, {out.back()}, out}, &builder);
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
