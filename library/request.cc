// SPDX-License-Identifier: Apache-2.0
#include "library/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/header/user_matrix.h"
#include "spec/canonical.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr char kSource[] = "text";  // what errors call it

// An operand whose type is known; its strides are those of the type, whether written in the text or not.
CallOperand OperandOf(std::string name, const TensorType& type) {
  return {std::move(name), type.dtype, {type.dims.begin(), type.dims.end()}, type.Strides()};
}

// The operands of a graph: its parameters, and the results, which are written without being read.
std::vector<CallOperand> OperandsOf(const Graph& graph, bool) {
  std::vector<CallOperand> operands;
  for (int i = 0; i < graph.num_inputs(); ++i) {
    operands.push_back(OperandOf(graph.at(i).text, graph.at(i).type));
    operands.back().constant = graph.at(i).constant;
  }
  for (const GraphResult& result : graph.results) {
    operands.push_back(OperandOf(result.name, graph.TypeOf(result)));
    operands.back().output = true;
    operands.back().read = false;
  }
  return operands;
}

// A matrix of a shorthand. `batched`: some member of its family has a batch, so all members have that axis.
CallOperand MatrixOperand(const UserMatrix& matrix, int64_t batch, bool batched) {
  CallOperand operand;
  operand.shape = {matrix.rows, matrix.columns};
  operand.stride = {matrix.row_axis.stride(0), matrix.column_axis.stride(0)};
  // All members of such a family have the axis, those without a batch, too.
  if (batched) {
    operand.shape.insert(operand.shape.begin(), batch);
    operand.stride.insert(operand.stride.begin(), matrix.batch_stride);
  }
  return operand;
}

// An operand of an epilogue: a tensor like the output, a vector for its rows or columns, or a number.
CallOperand EpilogueOperandOf(EpilogueOperand kind, const CallOperand& out) {
  CallOperand operand;
  // A scalar has no axes.
  if (kind == EpilogueOperand::kAll) {
    operand.shape = out.shape;
    operand.stride = out.stride;
  } else if (kind != EpilogueOperand::kScalar) {
    operand.shape = {out.shape[out.shape.size() - (kind == EpilogueOperand::kRows ? 2 : 1)]};
    operand.stride = {1};
  }
  return operand;
}

// Says how the parameters of a matmul's shorthand lie. The spec may have them exchanged (Canonicalise);
// callers do not.
//
//   matmul f32 64x32x16 rhs=col:
//     lhs  shape [64, 32], stride [32, 1]
//     rhs  shape [32, 16], stride [1, 32]
//     out  shape [64, 16], stride [16, 1]
class ShorthandOperands {
 public:
  ShorthandOperands(const ParsedSpec& parsed, bool batched)
      : member_{parsed.spec, parsed.swapped}, matrices_(UserMatrices(member_)), batched_(batched) {
    for (const EpilogueStep& step : EpilogueOfUser(member_))
      if (step.HasOperand()) arguments_.push_back(step.operand);
  }

  // Returns the operand `operand` of the spec, as the caller has it.
  CallOperand At(int operand) const {
    // Matrices come first in a spec; the operands of the epilogue follow, in the order of its steps.
    const int of_user = SwappedOperand(operand, member_.swapped);
    CallOperand at = of_user <= MatmulDims::kOut
                         ? Matrix(of_user)
                         : EpilogueOperandOf(arguments_[static_cast<size_t>(of_user - MatmulDims::kOut - 1)],
                                             Matrix(MatmulDims::kOut));
    at.dtype = member_.spec.tensor(operand).dtype;
    return at;
  }

 private:
  CallOperand Matrix(int of_user) const {
    return MatrixOperand(matrices_[static_cast<size_t>(of_user)], member_.spec.size[MatmulDims::kB],
                         batched_);
  }

  const HeaderMember member_;
  const std::array<UserMatrix, 3> matrices_;
  const bool batched_;
  std::vector<EpilogueOperand> arguments_;
};

// The operands of a spec: parameters whose type the text spells out, or those of the shorthand. The output
// comes last; it is read if the spec accumulates.
std::vector<CallOperand> OperandsOf(const ParsedSpec& parsed, bool batched) {
  const ShorthandOperands shorthand(parsed, batched);
  std::vector<CallOperand> operands;
  // Parameters are in the caller's order, which the spec's operands need not have.
  for (const Parameter& parameter : parsed.parameters) {
    CallOperand operand =
        parameter.type ? OperandOf(parameter.name, *parameter.type) : shorthand.At(parameter.operand);
    operand.name = parameter.name;
    operand.constant = parsed.spec.tensor(parameter.operand).constant != 0;
    operands.push_back(std::move(operand));
  }
  operands.back().output = true;
  operands.back().read = parsed.spec.accumulate;
  return operands;
}

}  // namespace

absl::StatusOr<KernelRequest> ParseOneKernel(const std::string& text, const std::string& kernel) {
  KIRSCH_ASSIGN_OR_RETURN(std::vector<KernelRequest> kernels, ParseKernelFile(text, kSource));
  // The names go into the error, so that a caller sees which there are.
  std::string names;
  size_t found = kernels.size();
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string& name = kernels[i].name;
    Append(&names, names.empty() ? "" : " ", name);
    if (name == kernel || (kernel.empty() && kernels.size() == 1)) found = i;
  }
  if (found == kernels.size())
    return absl::InvalidArgumentError(Cat("kernel: expected the name of a kernel of the text (", names,
                                          "), got ", kernel.empty() ? "none" : Quoted(kernel)));
  return std::move(kernels[found]);
}

absl::StatusOr<int64_t> FindMember(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> values) {
  if (sizes.size() != values.size())
    return absl::InvalidArgumentError(Cat("sizes: expected ", sizes.size(), ", got ", values.size()));
  int64_t member = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Values are ascending. A member's number has a digit for each size.
    const std::vector<uint32_t>& known = sizes[i].values;
    const auto found = std::ranges::lower_bound(known, values[i]);
    if (found == known.end() || *found != values[i])
      return absl::InvalidArgumentError(
          Cat(sizes[i].name, ": expected one of ", PrintValues(known), ", got ", values[i]));
    member = member * static_cast<int64_t>(known.size()) + (found - known.begin());
  }
  return member;
}

std::vector<CallOperand> OperandsOf(const KernelRequest& request, int64_t member) {
  // Families of graphs need no such thing: their types say all.
  const SpecFamily* const specs = request.family.specs();
  const bool batched = specs != nullptr && specs->ranges()[MatmulDims::kB].high > 1;
  return std::visit([&](const auto& kernel) { return OperandsOf(kernel, batched); },
                    request.family.member(member));
}

}  // namespace kirsch
