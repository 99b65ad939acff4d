// SPDX-License-Identifier: Apache-2.0
#include "import/tensor_program_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Adds zeros before and after a dim of the image to those along its axes. False if the dim is no axis.
bool JoinPads(const DimOperation& pad, ConvolutionDims* dims) {
  const std::vector<std::string>& words = dims->words[0];
  if (pad.op != Operation::kPad || pad.number != 0 || words.size() < 2 || pad.dim >= words.size())
    return false;
  const std::string& word = words[pad.dim];
  const size_t axis = word.size() == 1 ? static_cast<size_t>(word[0] - '0') : words.size();
  if (axis + 2 >= words.size()) return false;
  dims->pads.resize(2 * (words.size() - 2));
  dims->pads[2 * axis] += pad.along.steps.before;
  dims->pads[2 * axis + 1] += pad.along.steps.after;
  return true;
}

}  // namespace

absl::Status ExpectedAt(std::string_view source, const std::string& name, TextPosition position,
                        std::string_view what) {
  return ErrorAt(source, position, Cat(position.line == 0 ? Cat(name, ": ") : "", "expected ", what));
}

absl::Status TensorProgramBuilder::Expected(std::string_view what) const {
  return ExpectedAt(source_, name_, position_, what);
}

int TensorProgramBuilder::Parameter(const MlirBlock::Argument& argument) {
  program_.parameters.push_back(&argument);
  program_.types.push_back(argument.value.type);
  return static_cast<int>(program_.types.size()) - 1;
}

int TensorProgramBuilder::Add(TensorKind kind, std::vector<int> operands, MlirType type) {
  program_.types.push_back(std::move(type));
  TensorOperation operation{kind, name_, position_};
  operation.operands = std::move(operands);
  operation.result = static_cast<int>(program_.types.size()) - 1;
  made_by_[operation.result] = program_.operations.size();
  program_.operations.push_back(std::move(operation));
  return last().result;
}

int TensorProgramBuilder::Elementwise(Expression expression, std::vector<int> operands, MlirType type) {
  const int value = Add(TensorKind::kElementwise, std::move(operands), std::move(type));
  last().expression = std::move(expression);
  return value;
}

int TensorProgramBuilder::BeginReduction(Expression expression, int reduced, int initial) {
  const int value = Elementwise(std::move(expression), {reduced, initial}, TypeOf(reduced));
  last().begins_reduction = true;
  return value;
}

int TensorProgramBuilder::Convert(int value, const std::string& element) {
  if (TypeOf(value).element == element) return value;
  return Add(TensorKind::kConvert, {value}, {true, ShapeOf(value), element});
}

int TensorProgramBuilder::Constant(ConstantTensor constant, const std::string& element) {
  const int value = Add(TensorKind::kConstant, {}, {true, constant.shape, element});
  last().constant = std::move(constant);
  return value;
}

const TensorOperation* TensorProgramBuilder::Find(int value, TensorKind kind) const {
  const auto found = made_by_.find(value);
  if (found == made_by_.end() || program_.operations[found->second].kind != kind) return nullptr;
  return &program_.operations[found->second];
}

std::optional<double> TensorProgramBuilder::FindNumber(int value) const {
  if (const ConstantTensor* constant = FindConstant(value))
    return constant->uniform() ? std::optional(constant->at(0)) : std::nullopt;
  // Numbers may change where they are converted to narrower ones.
  const TensorOperation* same = Find(value, TensorKind::kConvert);
  if (same != nullptr && TypeOf(value).element != "f32" && TypeOf(value).element != "f64")
    return std::nullopt;
  for (const TensorKind kind : {TensorKind::kBroadcast, TensorKind::kReshape})
    if (same == nullptr) same = Find(value, kind);
  return same == nullptr ? std::nullopt : FindNumber(same->operands[0]);
}

int TensorProgramBuilder::Broadcast(int value, std::vector<int64_t> shape, std::vector<int64_t> dims) {
  std::vector<int64_t> identity(shape.size());
  std::iota(identity.begin(), identity.end(), 0);
  if (shape == ShapeOf(value) && dims == identity) return value;
  const int viewed = Add(TensorKind::kBroadcast, {value}, {true, std::move(shape), TypeOf(value).element});
  last().dims = std::move(dims);
  return viewed;
}

int TensorProgramBuilder::Reshape(int value, std::vector<int64_t> shape) {
  if (shape == ShapeOf(value)) return value;
  return Add(TensorKind::kReshape, {value}, {true, std::move(shape), TypeOf(value).element});
}

int TensorProgramBuilder::Reduce(int value, Operation reduction, std::vector<int64_t> dims) {
  MlirType type{true, {}, IsPlace(reduction) ? "i32" : TypeOf(value).element};
  for (size_t dim = 0; dim < ShapeOf(value).size(); ++dim)
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(dim)) == dims.end())
      type.shape.push_back(ShapeOf(value)[dim]);
  const int reduced = Add(TensorKind::kReduce, {value}, std::move(type));
  last().dims = std::move(dims);
  last().reduction = reduction;
  return reduced;
}

int TensorProgramBuilder::ReduceMin(int value, std::vector<int64_t> dims) {
  const auto negative = [&](int of) { return Elementwise(ParseExpression("neg($0)"), {of}, TypeOf(of)); };
  return negative(Reduce(negative(value), false, std::move(dims)));
}

int TensorProgramBuilder::Dot(int lhs, int rhs, DotDims dims, const std::string& element) {
  MlirType type{true, {}, element};
  for (const int64_t dim : dims.batch[0]) type.shape.push_back(ShapeOf(lhs)[static_cast<size_t>(dim)]);
  for (const int64_t dim : dims.free[0]) type.shape.push_back(ShapeOf(lhs)[static_cast<size_t>(dim)]);
  for (const int64_t dim : dims.free[1]) type.shape.push_back(ShapeOf(rhs)[static_cast<size_t>(dim)]);
  const int value = Add(TensorKind::kDot, {lhs, rhs}, std::move(type));
  last().dot = std::move(dims);
  return value;
}

int TensorProgramBuilder::Along(Operation op, std::vector<int> operands, size_t dim, const AlongAxis& along,
                                double number) {
  MlirType type = TypeOf(operands.front());
  int64_t& size = type.shape[dim];
  const AxisOptions& steps = along.steps;
  if (op == Operation::kConcat)
    size += ShapeOf(operands[1])[dim];
  else if (op == Operation::kSlice)
    size = (along.to - along.from - 1) / steps.stride + 1;
  else  // of a pad the size is 1
    size =
        (size + steps.before + steps.after - int64_t{along.size - 1} * steps.dilation - 1) / steps.stride + 1;
  const int value = Add(TensorKind::kAlong, std::move(operands), std::move(type));
  last().of_dim = {op, dim, along, number};
  return value;
}

int TensorProgramBuilder::TakeAlong(int value, int indices, size_t dim) {
  MlirType type = TypeOf(value);
  type.shape[dim] = ShapeOf(indices).back();
  const int taken = Add(TensorKind::kTake, {value, indices}, std::move(type));
  last().of_dim.dim = dim;
  return taken;
}

int TensorProgramBuilder::TakeAt(int value, std::vector<double> places, size_t dim) {
  const auto count = std::ssize(places);
  return TakeAlong(value, Constant({{count}, std::move(places)}, "i32"), dim);
}

int TensorProgramBuilder::Convolution(int image, int filters, ConvolutionDims dims, MlirType type) {
  while (const TensorOperation* pad = Find(image, TensorKind::kAlong)) {
    if (!JoinPads(pad->of_dim, &dims)) break;
    image = pad->operands[0];
  }
  const int value = Add(TensorKind::kConvolution, {image, filters}, std::move(type));
  last().convolution = std::move(dims);
  return value;
}

}  // namespace kirsch
