#include "library/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/header/user_matrix.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr char kSource[] = "text";  // what errors call it

std::vector<CallOperand> OperandsOfGraph(const Graph& graph) {
  std::vector<CallOperand> operands;
  const auto add = [&](std::string name, const TensorType& type) {
    operands.push_back({std::move(name), type.dtype, {type.dims.begin(), type.dims.end()}, type.Strides()});
  };
  for (int i = 0; i < graph.num_inputs(); ++i) {
    add(graph.at(i).text, graph.at(i).type);
    operands.back().constant = graph.at(i).constant;
  }
  add("out", graph.at(graph.result).type);
  operands.back().output = true;
  operands.back().read = false;
  return operands;
}

// `batched`: some member of its family has a batch.
CallOperand MatrixOperand(const UserMatrix& matrix, int64_t batch, bool batched) {
  CallOperand operand;
  operand.shape = {matrix.rows, matrix.columns};
  operand.stride = {matrix.row_axis.stride(0), matrix.column_axis.stride(0)};
  if (batched) {
    operand.shape.insert(operand.shape.begin(), batch);
    operand.stride.insert(operand.stride.begin(), matrix.batch_stride);
  }
  return operand;
}

CallOperand EpilogueOperandOf(EpilogueOperand kind, const CallOperand& out) {
  CallOperand operand;
  if (kind == EpilogueOperand::kAll) {
    operand.shape = out.shape;
    operand.stride = out.stride;
  } else if (kind != EpilogueOperand::kScalar) {
    operand.shape = {out.shape[out.shape.size() - (kind == EpilogueOperand::kRows ? 2 : 1)]};
    operand.stride = {1};
  }
  return operand;
}

std::vector<CallOperand> OperandsOfSpec(const ParsedSpec& parsed, bool batched) {
  const HeaderMember member{parsed.spec, parsed.swapped};
  const std::array<UserMatrix, 3> matrices = UserMatrices(member);
  const OpInfo& info = parsed.spec.op_info();
  // The spec's operand that is the user's.
  const auto number = [&](int user) { return parsed.swapped && user < 2 ? 1 - user : user; };
  const auto matrix_of = [&](int user) {
    const UserMatrix& matrix = matrices[static_cast<size_t>(user)];
    CallOperand operand = MatrixOperand(matrix, parsed.spec.size[MatmulDims::kB], batched);
    if (matrix.is_window()) {
      operand.shape = {RootElements(parsed.spec, number(user))};
      operand.stride = {1};
    }
    operand.name = info.operands[static_cast<size_t>(user)].name;
    operand.dtype = parsed.spec.tensor(number(user)).dtype;
    operand.constant = parsed.spec.tensor(number(user)).constant != 0;
    return operand;
  };
  std::vector<CallOperand> operands = {matrix_of(MatmulDims::kLhs), matrix_of(MatmulDims::kRhs)};
  CallOperand out = matrix_of(MatmulDims::kOut);
  out.output = true;
  out.read = parsed.spec.accumulate;
  for (const EpilogueStep& step : EpilogueOfUser(member)) {
    if (!step.HasOperand()) continue;
    const auto next = static_cast<int>(operands.size()) + 1;  // behind out
    CallOperand operand = EpilogueOperandOf(step.operand, out);
    operand.name = info.operands[static_cast<size_t>(next)].name;
    operand.dtype = parsed.spec.tensor(next).dtype;
    operands.push_back(std::move(operand));
  }
  operands.push_back(std::move(out));
  return operands;
}

}  // namespace

absl::StatusOr<KernelRequest> ParseOneKernel(const std::string& text, const std::string& kernel) {
  absl::StatusOr<std::vector<KernelRequest>> kernels =
      ParseKernelFile(text, kSource, KernelForm::kGraphConvolutions);
  if (!kernels.ok()) return kernels.status();
  std::string names;
  size_t found = kernels->size();
  for (size_t i = 0; i < kernels->size(); ++i) {
    const std::string& name = (*kernels)[i].name;
    Append(&names, names.empty() ? "" : " ", name);
    if (name == kernel || (kernel.empty() && kernels->size() == 1)) found = i;
  }
  if (found == kernels->size())
    return absl::InvalidArgumentError(Cat("kernel: expected the name of a kernel of the text (", names,
                                          "), got ", kernel.empty() ? "none" : Quoted(kernel)));
  // A kernel of the language that is one matmul, whose operands a spec would call lhs and rhs.
  if (!(*kernels)[found].operands.empty()) kernels = ParseKernelFile(text, kSource, KernelForm::kGraphs);
  if (!kernels.ok()) return kernels.status();
  return std::move((*kernels)[found]);
}

absl::StatusOr<int64_t> MemberOf(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> values) {
  if (sizes.size() != values.size())
    return absl::InvalidArgumentError(Cat("sizes: expected ", sizes.size(), ", got ", values.size()));
  int64_t member = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<uint32_t>& known = sizes[i].values;
    const auto found = std::lower_bound(known.begin(), known.end(), values[i]);
    if (found == known.end() || *found != values[i])
      return absl::InvalidArgumentError(
          Cat(sizes[i].name, ": expected one of ", PrintValues(known), ", got ", values[i]));
    member = member * static_cast<int64_t>(known.size()) + (found - known.begin());
  }
  return member;
}

std::vector<CallOperand> OperandsOf(const KernelRequest& request, int64_t member) {
  if (request.graph) return OperandsOfGraph(request.graph->member(member));
  return OperandsOfSpec(request.family.member(member), request.family.ranges()[MatmulDims::kB].high > 1);
}

}  // namespace kirsch
