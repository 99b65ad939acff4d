// SPDX-License-Identifier: Apache-2.0
#include "import/kernel_importer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "spec/check.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// A name for the parameter: the author's, or the place in the list.
std::string ParameterName(const std::string& label, size_t index, std::set<std::string>* taken) {
  std::string name = MakeIdentifier(label);
  // Our own values are called v1, v2 and so on.
  const bool ours = name.size() > 1 && name[0] == 'v' && name.find_first_not_of("0123456789", 1) == name.npos;
  if (!IsIdentifier(name) || ours || taken->count(name) != 0) name = Cat("arg", index);
  while (!taken->insert(name).second) name += "_";
  return name;
}

}  // namespace

std::optional<Dtype> ElementOf(std::string_view name) {
  struct Row {
    std::string_view name;
    Dtype type;
  };
  for (const Row& row :
       {Row{"f32", Dtype::kF32}, Row{"bf16", Dtype::kBf16}, Row{"f16", Dtype::kF16}, Row{"f64", Dtype::kF64},
        Row{"i8", Dtype::kS8}, Row{"si8", Dtype::kS8}, Row{"ui8", Dtype::kU8}, Row{"i16", Dtype::kS16},
        Row{"i32", Dtype::kS32}, Row{"si32", Dtype::kS32}, Row{"i1", Dtype::kU8}})
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::vector<ViewFactor> ImportedValue::factors() const {
  std::vector<ViewFactor> all;
  for (const auto& dim : dims) all.insert(all.end(), dim.begin(), dim.end());
  return all;
}

absl::Status KernelImporter::Expected(const TensorOperation& operation, std::string_view what) const {
  return ExpectedAt(source_, operation.name, operation.position, what);
}

// 1. All reshapes split dims, before any value gets axes. 2. Parameters. 3. Operations, in their order.
absl::Status KernelImporter::Run() {
  for (const MlirType& type : program_.types) {
    dims_.emplace_back();
    for (const int64_t size : type.shape) dims_.back().push_back(factors_.Dim(size));
  }
  for (const TensorOperation& operation : program_.operations)
    KIRSCH_RETURN_IF_ERROR(InferFactors(operation));
  // Dims along which operations go are split last: they are split as reshapes of operands or results ask for.
  // That may split the dims of another such operation.
  const auto all_factors = [&] {
    size_t count = 0;
    for (const auto& dims : dims_) count += Factors(dims).size();
    return count;
  };
  for (size_t before = 0; before != all_factors();) {
    before = all_factors();
    for (const TensorOperation& operation : program_.operations)
      if (operation.kind == TensorKind::kAlong) KIRSCH_RETURN_IF_ERROR(SplitAlong(operation));
  }
  values_.resize(program_.types.size());
  std::set<std::string> names = {"out"};
  for (size_t i = 0; i < program_.parameters.size(); ++i) {
    const MlirBlock::Argument& parameter = *program_.parameters[i];
    const std::optional<Dtype> type = ElementOf(parameter.value.type.element);
    if (!type)
      return ErrorAt(source_, parameter.position,
                     Cat("expected a parameter of f32, bf16, f16, f64, i8, ui8, i16, i32 or i1, got ",
                         Quoted(parameter.value.type.element)));
    const int value = static_cast<int>(i);
    std::vector<int64_t> axes;
    std::vector<int> identity;
    for (const int factor : Factors(dims_[i])) {
      identity.push_back(static_cast<int>(axes.size()));
      axes.push_back(factors_.size(factor));
    }
    const int written = writer_.AddParameter(ParameterName(parameter.label, i, &names), *type,
                                             std::move(axes), parameter.position);
    Set(value, {std::nullopt, written, ViewOf(value, identity)});
  }
  for (const TensorOperation& operation : program_.operations) KIRSCH_RETURN_IF_ERROR(Import(operation));
  return absl::OkStatus();
}

DimFactors::List KernelImporter::Factors(const std::vector<DimFactors::List>& dims) const {
  DimFactors::List all;
  for (const DimFactors::List& dim : dims) {
    const DimFactors::List split = factors_.Split(dim);
    all.insert(all.end(), split.begin(), split.end());
  }
  return all;
}

// A view whose factors, in their order, are these axes of the value.
std::vector<std::vector<ViewFactor>> KernelImporter::ViewOf(int value, const std::vector<int>& axes) const {
  std::vector<std::vector<ViewFactor>> dims;
  size_t next = 0;
  for (const DimFactors::List& dim : dims_[static_cast<size_t>(value)]) {
    dims.emplace_back();
    for (const int factor : factors_.Split(dim)) dims.back().push_back({factors_.size(factor), axes[next++]});
  }
  return dims;
}

// What is computed element by element has the same factors in all operands and the result.
absl::Status KernelImporter::UnifyAlike(const TensorOperation& operation) {
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    const MlirType &operand = TypeOf(operation.operands[i]), &result = TypeOf(operation.result);
    if (operand.shape.empty()) continue;
    if (operand.shape != result.shape) return Expected(operation, "operands of the result's shape");
    for (size_t dim = 0; dim < operand.shape.size(); ++dim)
      if (absl::Status status =
              Unify(operation, static_cast<int>(i), static_cast<int64_t>(dim), DimsOf(operation.result)[dim]);
          !status.ok())
        return status;
  }
  return absl::OkStatus();
}

// A dim of the operand goes to each of these dims of the result, or is repeated along it.
absl::Status KernelImporter::InferBroadcastFactors(const TensorOperation& operation) {
  const MlirType &operand = TypeOf(operation.operands[0]), &result = TypeOf(operation.result);
  if (operation.dims.size() != operand.shape.size()) return Expected(operation, "a number for each dim");
  std::set<int64_t> distinct;
  for (size_t i = 0; i < operation.dims.size(); ++i) {
    const int64_t to = operation.dims[i];
    if (to < 0 || to >= static_cast<int64_t>(result.shape.size()) || !distinct.insert(to).second)
      return Expected(operation, "dims of the tensor, each once");
    const int64_t size = operand.shape[i];
    if (size != result.shape[static_cast<size_t>(to)] && size != 1)
      return Expected(operation, "sizes that are the same, or 1 where they are repeated");
    if (size == result.shape[static_cast<size_t>(to)])
      if (absl::Status status =
              Unify(operation, 0, static_cast<int64_t>(i), DimsOf(operation.result)[static_cast<size_t>(to)]);
          !status.ok())
        return status;
  }
  return absl::OkStatus();
}

absl::Status KernelImporter::InferReduceFactors(const TensorOperation& operation) {
  const auto &operand = DimsOf(operation.operands[0]), &result = DimsOf(operation.result);
  size_t next = 0;
  for (size_t dim = 0; dim < operand.size(); ++dim) {
    if (std::find(operation.dims.begin(), operation.dims.end(), static_cast<int64_t>(dim)) !=
        operation.dims.end())
      continue;
    KIRSCH_RETURN_IF_ERROR(Unify(operation, 0, static_cast<int64_t>(dim), result[next++]));
  }
  return absl::OkStatus();
}

absl::Status KernelImporter::Unify(const TensorOperation& operation, int operand, int64_t dim,
                                   const DimFactors::List& as) {
  const int value = operation.operands[static_cast<size_t>(operand)];
  if (factors_.Unify(DimsOf(value)[static_cast<size_t>(dim)], as)) return absl::OkStatus();
  wanted_copies_.push_back({IndexOf(operation), operand, dim});
  return Expected(operation, "dims that reshapes split alike");
}

absl::Status KernelImporter::InferReshapeFactors(const TensorOperation& operation) {
  const int from = operation.operands[0];
  if (TypeOf(from).elements() != TypeOf(operation.result).elements())
    return Expected(operation, "as many elements as before");
  if (factors_.Unify(Factors(DimsOf(from)), Factors(DimsOf(operation.result)))) return absl::OkStatus();
  wanted_copies_.push_back({IndexOf(operation), kItself, 0});
  return Expected(operation, "dims that reshapes split alike");
}

absl::Status KernelImporter::InferFactors(const TensorOperation& operation) {
  switch (operation.kind) {
    case TensorKind::kElementwise:
    case TensorKind::kConvert:
      return UnifyAlike(operation);
    case TensorKind::kConstant:
    case TensorKind::kConvolution:
      return absl::OkStatus();
    case TensorKind::kAlong:
      return InferAlongFactors(operation);
    case TensorKind::kReshape:
      return InferReshapeFactors(operation);
    case TensorKind::kCopy:
      for (size_t dim = 0; dim < DimsOf(operation.result).size(); ++dim)
        if (TypeOf(operation.operands[0]).shape == TypeOf(operation.result).shape &&
            std::count(operation.dims.begin(), operation.dims.end(), static_cast<int64_t>(dim)) == 0)
          if (absl::Status status =
                  Unify(operation, 0, static_cast<int64_t>(dim), DimsOf(operation.result)[dim]);
              !status.ok())
            return status;
      return absl::OkStatus();
    case TensorKind::kTake:
      return InferTakeFactors(operation);
    case TensorKind::kBroadcast:
      return InferBroadcastFactors(operation);
    case TensorKind::kReduce:
      return InferReduceFactors(operation);
    case TensorKind::kDot:
      return InferDotFactors(operation);
  }
  KIRSCH_BUG("no such kind");
}

absl::Status KernelImporter::Import(const TensorOperation& operation) {
  switch (operation.kind) {
    case TensorKind::kElementwise:
      return ImportElementwise(operation, operation.expression);
    case TensorKind::kConvert:
      return ImportConvert(operation);
    case TensorKind::kConstant:
      Set(operation.result, {operation.constant, -1, {}});
      return absl::OkStatus();
    case TensorKind::kBroadcast:
    case TensorKind::kReshape:
      return ImportView(operation);
    case TensorKind::kReduce:
      return ImportReduce(operation);
    case TensorKind::kDot:
      return ImportDot(operation);
    case TensorKind::kConvolution:
      return ImportConvolution(operation);
    case TensorKind::kAlong:
      return ImportAlong(operation);
    case TensorKind::kTake:
      return ImportTake(operation);
    case TensorKind::kCopy:
      return ImportCopy(operation);
  }
  KIRSCH_BUG("no such kind");
}

absl::StatusOr<ImportedValue> KernelImporter::AsTensor(const TensorOperation& operation, int value,
                                                       bool repeats) {
  const ImportedValue imported = Of(value);
  if (!imported.constant) return imported;
  const MlirType& type = TypeOf(value);
  if (type.elements() > kMostFolded)
    return Expected(operation, Cat("operands of at most ", kMostFolded, " elements if they are constant"));
  const Dtype element = type.element == "i1" ? Dtype::kF32
                        : type.integer()     ? Dtype::kS32
                                             : ElementOf(type.element).value_or(Dtype::kF32);
  const bool integer = element == Dtype::kS32;
  ConstantTensor constant = *imported.constant;
  constant.shape.clear();
  for (const int factor : Factors(dims_[static_cast<size_t>(value)]))
    constant.shape.push_back(factors_.size(factor));
  std::vector<bool> varies(constant.shape.size(), true);
  if (repeats) constant = WithoutRepetitions(constant, &varies);
  std::vector<int> view;
  int axes = 0;
  for (const bool is_axis : varies) view.push_back(is_axis ? axes++ : kUnit);
  // Layers often have the same mask.
  size_t same = 0;
  while (same < constants_.size() &&
         (constants_[same].tensor.shape != constant.shape ||
          constants_[same].tensor.values != constant.values || constants_[same].integer != integer))
    ++same;
  if (same == constants_.size()) {
    std::string name = Cat("constant", same);
    constant_values_.push_back(writer_.AddParameter(name, element, constant.shape, operation.position));
    constants_.push_back({std::move(name), std::move(constant), integer});
  }
  return ImportedValue{std::nullopt, constant_values_[same], ViewOf(value, view)};
}

int KernelImporter::Cast(int value, Dtype type, TextPosition position) {
  return writer_.at(value).type == type ? value : AddCast(value, type, position);
}

int KernelImporter::AddCast(int value, Dtype type, TextPosition position) {
  writer_.PlaceAsItLies(value);
  KernelValue cast = writer_.at(value);
  cast.type = type;
  cast.position = position;
  cast.parameter = false;
  cast.operation = "cast";
  cast.arguments = {{std::nullopt, value, false}};
  cast.options = {std::string(Info(type).name)};
  return writer_.AddOperation(std::move(cast));
}

absl::Status KernelImporter::ImportConvert(const TensorOperation& operation) {
  const int operand = operation.operands[0];
  const MlirType &from = TypeOf(operand), &to = TypeOf(operation.result);
  ImportedValue value = Of(operand);
  if (value.constant) {
    const bool truth = to.element == "i1", integer = to.integer();
    value.constant = Map(to.shape, {&*value.constant}, [&](absl::Span<const double> x) {
      return truth ? (x[0] != 0 ? 1.0 : 0.0) : integer ? std::trunc(x[0]) : x[0];
    });
    Set(operation.result, std::move(value));
    return absl::OkStatus();
  }
  const std::optional<Dtype> type = ElementOf(to.element);
  if (!type) return Expected(operation, Cat("a type of the kernel language, got ", Quoted(to.element)));
  const Dtype held = writer_.at(value.value).type;
  if (to.element == "i1" && from.element != "i1")
    return ImportElementwise(operation, ParseExpression("sub(1, equal($0, 0))"));
  const bool from_integer = from.integer(), to_integer = to.integer();
  if (!from_integer && to_integer)
    return Expected(operation, "floats that stay floats: casts to integers round to nearest here");
  if (to_integer && from.element != "i1" && Bytes(*type) < Bytes(*ElementOf(from.element)))
    return Expected(operation, "integers that get no narrower: casts saturate here");
  // Wider is what is computed in anyway, so a value that is wide enough stays as it is.
  const bool stays = to_integer ? !IsFloating(held) : IsFloating(held) && Bytes(held) <= Bytes(*type);
  if (!stays) {
    writer_.PlaceAsItLies(value.value);
    value.value = Cast(value.value, *type, operation.position);
  }
  Set(operation.result, std::move(value));
  return absl::OkStatus();
}

absl::Status KernelImporter::ImportView(const TensorOperation& operation) {
  const ImportedValue& value = Of(operation.operands[0]);
  const MlirType& type = TypeOf(operation.result);
  const bool reshapes = operation.kind == TensorKind::kReshape;
  const std::vector<int64_t>& to = operation.dims;
  if (value.constant) {
    if (!value.constant->uniform() && type.elements() > kMostFolded)
      return Expected(operation, Cat("at most ", kMostFolded, " constant elements"));
    ConstantTensor viewed = reshapes ? ConstantTensor{type.shape, value.constant->values}
                                     : Broadcast(*value.constant, type.shape, to);
    Set(operation.result, {std::move(viewed), -1, {}});
    return absl::OkStatus();
  }
  if (reshapes) {
    std::vector<int> axes;
    for (const ViewFactor& factor : value.factors()) axes.push_back(factor.axis);
    Set(operation.result, {std::nullopt, value.value, ViewOf(operation.result, axes)});
    return absl::OkStatus();
  }
  // All dims are repeated, but for those that come from the operand.
  const std::vector<int> repeated(Factors(dims_[static_cast<size_t>(operation.result)]).size(), kUnit);
  ImportedValue view{std::nullopt, value.value, ViewOf(operation.result, repeated)};
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (TypeOf(operation.operands[0]).shape[dim] == type.shape[static_cast<size_t>(to[dim])])
      view.dims[static_cast<size_t>(to[dim])] = value.dims[dim];
  Set(operation.result, std::move(view));
  return absl::OkStatus();
}

absl::Status KernelImporter::ImportReduce(const TensorOperation& operation) {
  absl::StatusOr<ImportedValue> operand = AsTensor(operation, operation.operands[0]);
  if (!operand.ok()) return operand.status();
  const bool place = IsPlace(operation.reduction);
  if (place && (operation.dims.size() != 1 || !WantOneFactor(operation, 0, operation.dims[0])))
    return Expected(operation, "one dim that no reshape splits");
  if (place && TypeOf(operation.operands[0]).shape[static_cast<size_t>(operation.dims[0])] == 1) {
    Set(operation.result, {ConstantTensor{TypeOf(operation.result).shape, {0}}, -1, {}});
    return absl::OkStatus();
  }
  operand = Whole(*operand);
  writer_.PlaceAsItLies(operand->value);
  const KernelValue value = writer_.at(operand->value);
  std::set<int> reduced;  // axes of the value
  for (const int64_t dim : operation.dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(operand->dims.size()))
      return Expected(operation, "dims of the tensor");
    for (const ViewFactor& factor : operand->dims[static_cast<size_t>(dim)]) reduced.insert(factor.axis);
  }
  std::vector<int> view;
  for (size_t dim = 0; dim < operand->dims.size(); ++dim)
    for (const ViewFactor& factor : operand->dims[dim])
      if (reduced.count(factor.axis) == 0) view.push_back(factor.axis);
  KernelValue result = value;
  result.position = operation.position;
  result.parameter = false;
  result.operation = Name(operation.reduction);
  result.type = place ? Dtype::kS32 : AccumulatorOf(value.type);
  result.arguments = {{std::nullopt, operand->value, false}};
  result.options = {};
  for (size_t i = 0; i < result.order.size(); ++i)
    if (reduced.count(result.order[i]) != 0) {
      result.options.push_back(Cat("axis=", i));
      result.order[i] = kUnit;
    }
  const int written = reduced.empty() ? operand->value : writer_.AddOperation(std::move(result));
  Set(operation.result, {std::nullopt, written, ViewOf(operation.result, view)});
  return absl::OkStatus();
}

absl::StatusOr<std::string> KernelImporter::Print(const std::string& name, std::vector<KernelLine>* lines) {
  const auto refuse = [&](size_t result, std::string_view what) {
    return ErrorAt(source_, program_.position, Cat("expected ", what, " as result ", result));
  };
  std::vector<KernelResult> results;
  for (size_t i = 0; i < program_.results.size(); ++i) {
    const int value = program_.results[i];
    const std::optional<Dtype> type = ElementOf(TypeOf(value).element);
    if (!type) return refuse(i, "a type of the kernel language");
    KIRSCH_ASSIGN_OR_RETURN(const ImportedValue tensor,
                            AsTensor({.name = "result", .position = program_.position}, value));
    const ImportedValue imported = Whole(tensor);
    KernelResult result{imported.value, {}};
    for (const ViewFactor& factor : imported.factors()) result.memory.push_back(factor.axis);
    if (const int whole = result.value; writer_.at(whole).parameter) {
      writer_.PlaceAsItLies(whole);
      if (!writer_.CanLie(whole, result.memory)) result.value = writer_.Permuted(whole, result.memory);
    }
    result.value = Cast(result.value, *type, program_.position);
    // A parameter is no result, and no value is two, but a copy is.
    const auto is_taken = [&] {
      return writer_.at(result.value).parameter ||
             std::any_of(results.begin(), results.end(),
                         [&](const KernelResult& other) { return other.value == result.value; });
    };
    while (is_taken()) result.value = AddCast(result.value, writer_.at(result.value).type, program_.position);
    results.push_back(std::move(result));
  }
  return writer_.Print(name, std::move(results), lines);
}

}  // namespace kirsch
