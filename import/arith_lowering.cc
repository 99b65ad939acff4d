// SPDX-License-Identifier: Apache-2.0
// Lowers what arith and tensor have beside linalg's structured operations, beyond elementwise rows.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "import/along_dims.h"
#include "import/lowering.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// By arith's number of the predicate; "" if it is not imported.
LoweredValues LowerCompare(const SourceOperation& operation, absl::Span<const std::string_view> expressions,
                           TensorProgramBuilder* builder) {
  const std::vector<int64_t> predicate = operation.of.Integers("predicate");
  const size_t row = predicate.size() == 1 && predicate[0] >= 0 ? static_cast<size_t>(predicate[0]) : 100;
  if (row >= expressions.size() || expressions[row].empty())
    return builder->Expected("a predicate of signed numbers, beside false and true");
  return std::vector{
      builder->Elementwise(ParseExpression(expressions[row]), operation.operands, operation.type())};
}

}  // namespace

LoweredValues LowerFloatCompare(const SourceOperation& operation, TensorProgramBuilder* builder) {
  static constexpr auto kExpressions = std::to_array<std::string_view>({
      "",                                           // false
      "equal($0, $1)",                              // oeq
      "less($1, $0)",                               // ogt
      "less_equal($1, $0)",                         // oge
      "less($0, $1)",                               // olt
      "less_equal($0, $1)",                         // ole
      "max(less($0, $1), less($1, $0))",            // one
      "mul(equal($0, $0), equal($1, $1))",          // ord
      "sub(1, max(less($0, $1), less($1, $0)))",    // ueq
      "sub(1, less_equal($0, $1))",                 // ugt
      "sub(1, less($0, $1))",                       // uge
      "sub(1, less_equal($1, $0))",                 // ult
      "sub(1, less($1, $0))",                       // ule
      "sub(1, equal($0, $1))",                      // une
      "sub(1, mul(equal($0, $0), equal($1, $1)))",  // uno
  });
  return LowerCompare(operation, kExpressions, builder);
}

LoweredValues LowerIntegerCompare(const SourceOperation& operation, TensorProgramBuilder* builder) {
  static constexpr auto kExpressions = std::to_array<std::string_view>({
      "equal($0, $1)",          // eq
      "sub(1, equal($0, $1))",  // ne
      "less($0, $1)",           // slt
      "less_equal($0, $1)",     // sle
      "less($1, $0)",           // sgt
      "less_equal($1, $0)",     // sge
  });
  return LowerCompare(operation, kExpressions, builder);
}

// As a signed number, true is -1.
LoweredValues LowerSignedConvert(const SourceOperation& operation, TensorProgramBuilder* builder) {
  if (builder->TypeOf(operation.operands[0]).element == "i1")
    return builder->Expected("numbers of more than one bit");
  return LowerConvert(operation, builder);
}

// Nobody reads what is in it.
LoweredValues LowerEmpty(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{builder->Constant({operation.type().shape, {0}}, operation.type().element)};
}

LoweredValues LowerSplat(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return std::vector{builder->Broadcast(operation.operands[0], operation.type().shape, {})};
}

LoweredValues LowerPad(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const auto& regions = operation.of.regions;
  const std::vector<int64_t> low = operation.of.Integers("static_low"),
                             high = operation.of.Integers("static_high");
  const size_t rank = operation.type().shape.size();
  const bool yields = regions.size() == 1 && regions[0].operations.size() == 1 &&
                      regions[0].operations[0].operands.size() == 1;
  if (!yields || low.size() != rank || high.size() != rank)
    return builder->Expected("a number around the tensor, known sizes of them");
  const auto found = operation.captured.find(regions[0].operations[0].operands[0]);
  const std::optional<double> number =
      found == operation.captured.end() ? std::nullopt : builder->FindNumber(found->second);
  if (!number) return builder->Expected("a constant number around the tensor");
  return Only(PadDims(operation.operands[0], low, high, *number, builder));
}

LoweredValues LowerExtractSlice(const SourceOperation& operation, TensorProgramBuilder* builder) {
  KIRSCH_ASSIGN_OR_RETURN(
      const int slice,
      SliceDims(operation.operands[0], operation.of.Integers("static_offsets"),
                operation.of.Integers("static_sizes"), operation.of.Integers("static_strides"), builder));
  // Dims of size 1 may be left out.
  if (builder->TypeOf(slice).elements() != operation.type().elements())
    return builder->Expected("a result of the slice's sizes");
  return std::vector{builder->Reshape(slice, operation.type().shape)};
}

LoweredValues LowerConcat(const SourceOperation& operation, TensorProgramBuilder* builder) {
  std::vector<int64_t> dim;
  for (const char* name : {"dimension", "dim", "axis"})
    if (dim.empty()) dim = operation.of.Integers(name);
  return Only(ConcatDims(operation.operands, dim.size() == 1 ? dim[0] : -1, builder));
}

}  // namespace kirsch
