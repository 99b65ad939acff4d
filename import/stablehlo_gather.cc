// SPDX-License-Identifier: Apache-2.0
// Lowers gathers of StableHLO that take slices along one dim, as an embedding does, and reductions that find
// the place of the largest or the smallest element, as JAX prints argmax.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "import/lowering.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// A gather whose indices are of one dim.
struct DimGather {
  int64_t dim = 0;                  // of the operand
  std::vector<int64_t> batch;       // of the operand, in the order of those of the indices
  std::vector<int64_t> of_indices;  // of these: the batch, in the same order
  std::vector<int64_t> offsets;     // of the result: those of the operand's other dims
  bool keeps_dim = false;           // the result has the dim, of size 1, among these
  int64_t vector_dim = 0;           // of the indices: of size 1, or behind all others
};

bool Has(const std::vector<int64_t>& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

// Nothing if indices are of several dims, or slices are not whole, but for that dim.
std::optional<DimGather> ReadGather(const SourceOperation& operation, const MlirType& operand) {
  const MlirAttribute* numbers = operation.of.Find("dimension_numbers");
  if (numbers == nullptr) return std::nullopt;
  const std::string& text = numbers->text;
  const std::vector<int64_t> map = NumbersBehind(text, "start_index_map"),
                             collapsed = NumbersBehind(text, "collapsed_slice_dims"),
                             sizes = operation.of.Integers("slice_sizes");
  DimGather gather;
  gather.batch = NumbersBehind(text, "operand_batching_dims");
  gather.of_indices = NumbersBehind(text, "start_indices_batching_dims");
  gather.offsets = NumbersBehind(text, "offset_dims");
  const auto rank = std::ssize(operand.shape);
  if (map.size() != 1 || map[0] < 0 || map[0] >= rank || std::ssize(sizes) != rank ||
      gather.batch.size() != gather.of_indices.size())
    return std::nullopt;
  gather.dim = map[0];
  gather.keeps_dim = !Has(collapsed, gather.dim);
  gather.vector_dim = NumberBehind(text, "index_vector_dim");
  for (int64_t dim = 0; dim < rank; ++dim) {
    const bool one = dim == gather.dim || Has(gather.batch, dim);
    if (sizes[static_cast<size_t>(dim)] != (one ? 1 : operand.shape[static_cast<size_t>(dim)]) ||
        (Has(collapsed, dim) && dim != gather.dim && operand.shape[static_cast<size_t>(dim)] != 1))
      return std::nullopt;
  }
  return gather;
}

// The value with its dims in this order.
int Permuted(int value, const std::vector<int64_t>& order, TensorProgramBuilder* builder) {
  std::vector<int64_t> shape;
  for (const int64_t dim : order) shape.push_back(builder->ShapeOf(value)[static_cast<size_t>(dim)]);
  return builder->Broadcast(value, std::move(shape), Inverse(order, order.size()));
}

// The text of what a body returns, its arguments being $0, $1 and so on.
std::string BodyText(const MlirBlock& body, int value) {
  for (size_t i = 0; i < body.arguments.size(); ++i)
    if (body.arguments[i].value.id == value) return Cat("$", i);
  for (const MlirOperation& operation : body.operations) {
    if (operation.results.size() != 1 || operation.results[0].id != value) continue;
    std::string text = operation.name.substr(operation.name.find('.') + 1);
    if (const MlirAttribute* direction = operation.Find("comparison_direction"))
      text = direction->text.substr(direction->text.find_last_of(' ') + 1, 2);
    text += "(";
    for (const int operand : operation.operands)
      Append(&text, text.back() == '(' ? "" : ",", BodyText(body, operand));
    return text + ")";
  }
  return "?";
}

// Whether a body picks the larger (GT) or the smaller (LT) of two elements with their places; NaNs first, and
// of equal elements that with the lower place.
bool IsArgumentBody(const MlirBlock& body, const char* direction) {
  if (body.arguments.size() != 4 || body.operations.empty() || body.operations.back().operands.size() != 2)
    return false;
  const std::string better = Cat("or(", direction, "($0,$2),NE($0,$0))"),
                    first = Cat("or(", better, ",and(EQ($0,$2),LT($1,$3)))");
  const std::vector<int>& returned = body.operations.back().operands;
  return BodyText(body, returned[0]) == Cat("select(", better, ",$0,$2)") &&
         BodyText(body, returned[1]) == Cat("select(", first, ",$1,$3)");
}

}  // namespace

LoweredValues LowerStablehloGather(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int operand = operation.operands[0];
  int indices = operation.operands[1];
  const std::vector<int64_t> from = builder->ShapeOf(operand), to = operation.type().shape;
  const std::optional<DimGather> gather = ReadGather(operation, builder->TypeOf(operand));
  std::vector<int64_t> places = builder->ShapeOf(indices);  // without the dim that is the vector of one index
  if (gather && gather->vector_dim >= 0 && gather->vector_dim < std::ssize(places)) {
    if (places[static_cast<size_t>(gather->vector_dim)] != 1)
      places.clear();
    else
      places.erase(places.begin() + gather->vector_dim);
  }
  if (!gather) return builder->Expected("a gather of whole slices along one dim");
  // The batch first, then the dim, or, without one, all in their order.
  std::vector<int64_t> order = gather->batch, of_places = gather->of_indices;
  if (!order.empty()) order.push_back(gather->dim);
  for (int64_t dim = 0; dim < std::ssize(from); ++dim)
    if (!Has(order, dim)) order.push_back(dim);
  for (int64_t dim = 0; dim < std::ssize(places); ++dim)
    if (!Has(of_places, dim)) of_places.push_back(dim);
  const size_t batches = gather->batch.size();
  const size_t along = batches == 0 ? static_cast<size_t>(gather->dim) : batches;
  if (of_places.size() != places.size()) return builder->Expected("indices with the dims of its batch");
  indices = Permuted(builder->Reshape(indices, places), of_places, builder);
  std::vector<int64_t> shape = builder->ShapeOf(indices),
                       flat(shape.begin(), shape.begin() + std::ssize(gather->batch));
  flat.push_back(std::accumulate(shape.begin() + std::ssize(gather->batch), shape.end(), int64_t{1},
                                 std::multiplies<>()));
  const int taken =
      builder->TakeAlong(Permuted(operand, order, builder), builder->Reshape(indices, flat), along);
  // Each of the result's dims, in the order in which they are now.
  std::vector<int64_t> now, made, result_of(from.size(), -1), batch_dims;
  size_t offset = 0;
  for (int64_t dim = 0; dim < std::ssize(from); ++dim) {
    const bool is_offset = !Has(gather->batch, dim) && (dim != gather->dim || gather->keeps_dim);
    if (is_offset && offset < gather->offsets.size())
      result_of[static_cast<size_t>(dim)] = gather->offsets[offset++];
  }
  for (int64_t dim = 0; dim < std::ssize(to); ++dim)
    if (!Has(gather->offsets, dim)) batch_dims.push_back(dim);
  if (batch_dims.size() != places.size() || offset != gather->offsets.size())
    return builder->Expected("offset_dims for the dims of a slice");
  const auto add = [&](int64_t dim) {
    now.push_back(dim);
    made.push_back(to[static_cast<size_t>(dim)]);
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dim = order[i];
    if (i < batches) {
      add(batch_dims[static_cast<size_t>(gather->of_indices[i])]);
    } else if (dim != gather->dim) {
      if (result_of[static_cast<size_t>(dim)] >= 0) add(result_of[static_cast<size_t>(dim)]);
    } else {
      for (size_t place = batches; place < of_places.size(); ++place)
        add(batch_dims[static_cast<size_t>(of_places[place])]);
      if (gather->keeps_dim) add(result_of[static_cast<size_t>(dim)]);
    }
  }
  std::vector<int64_t> inverse(to.size());
  for (size_t i = 0; i < now.size(); ++i) inverse[static_cast<size_t>(now[i])] = static_cast<int64_t>(i);
  return std::vector{Permuted(builder->Reshape(taken, made), inverse, builder)};
}

LoweredValues LowerStablehloArgument(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const auto& regions = operation.of.regions;
  const std::vector<int64_t> dims = operation.of.Integers("dimensions");
  const bool most = regions.size() == 1 && IsArgumentBody(regions[0], "GT"),
             least = regions.size() == 1 && IsArgumentBody(regions[0], "LT");
  const int x = operation.operands[0];
  const ConstantTensor* places = builder->FindConstant(operation.operands[1]);
  const std::optional<double> begin = builder->FindNumber(operation.operands[2]);
  if ((!most && !least) || dims.size() != 1 || dims[0] < 0 || dims[0] >= std::ssize(builder->ShapeOf(x)) ||
      places == nullptr || places->values != Iota(builder->ShapeOf(x), static_cast<size_t>(dims[0])).values ||
      begin != (most ? -HUGE_VAL : HUGE_VAL) || builder->FindNumber(operation.operands[3]) != 0)
    return builder->Expected("a reduction of one tensor, or argmax or argmin along one dim");
  const int place = builder->Reduce(x, most ? Operation::kArgmax : Operation::kArgmin, dims);
  const int value = most ? builder->Reduce(x, false, dims) : builder->ReduceMin(x, dims);
  return std::vector{value, place};
}

}  // namespace kirsch
