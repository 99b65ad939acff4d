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
#include <utility>
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
  std::vector<int64_t> places;      // the shape of the indices, without the dim that has the one of each
  std::vector<int64_t> slice;       // the operand's dims that the result has, in their order
  std::vector<int64_t> offsets;     // of the result: those dims
  std::vector<int64_t> others;      // of the result: the dims of the indices
};

bool Has(const std::vector<int64_t>& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

// Nothing if indices are of several dims, or slices are not whole, but for that dim.
std::optional<DimGather> ReadGather(const SourceOperation& operation, const TensorProgramBuilder& builder) {
  const MlirAttribute* numbers = operation.of.Find("dimension_numbers");
  if (numbers == nullptr) return std::nullopt;
  const std::string& text = numbers->text;
  const std::vector<int64_t>& operand = builder.ShapeOf(operation.operands[0]);
  const std::vector<int64_t> map = NumbersBehind(text, "start_index_map"),
                             collapsed = NumbersBehind(text, "collapsed_slice_dims"),
                             sizes = operation.of.Integers("slice_sizes");
  const int64_t vector = NumberBehind(text, "index_vector_dim");
  DimGather gather;
  gather.batch = NumbersBehind(text, "operand_batching_dims");
  gather.of_indices = NumbersBehind(text, "start_indices_batching_dims");
  gather.offsets = NumbersBehind(text, "offset_dims");
  gather.places = builder.ShapeOf(operation.operands[1]);
  if (map.size() != 1 || map[0] < 0 || map[0] >= std::ssize(operand) || sizes.size() != operand.size() ||
      gather.batch.size() != gather.of_indices.size() || vector < 0 || vector > std::ssize(gather.places))
    return std::nullopt;
  gather.dim = map[0];
  if (vector < std::ssize(gather.places)) {
    if (gather.places[static_cast<size_t>(vector)] != 1) return std::nullopt;
    gather.places.erase(gather.places.begin() + vector);
  }
  for (int64_t dim = 0; dim < std::ssize(operand); ++dim) {
    const int64_t size = operand[static_cast<size_t>(dim)];
    const bool batch = Has(gather.batch, dim), one = batch || dim == gather.dim || Has(collapsed, dim);
    if (sizes[static_cast<size_t>(dim)] != (batch || dim == gather.dim ? 1 : size) ||
        (Has(collapsed, dim) && dim != gather.dim && size != 1))
      return std::nullopt;
    if (!one || (dim == gather.dim && !Has(collapsed, dim))) gather.slice.push_back(dim);
  }
  for (int64_t dim = 0; dim < std::ssize(operation.type().shape); ++dim)
    if (!Has(gather.offsets, dim)) gather.others.push_back(dim);
  const auto are_dims = [](const std::vector<int64_t>& list, const std::vector<int64_t>& of) {
    return std::all_of(list.begin(), list.end(), [&](int64_t dim) {
      return dim >= 0 && dim < std::ssize(of) && std::count(list.begin(), list.end(), dim) == 1;
    });
  };
  if (!are_dims(gather.batch, operand) || Has(gather.batch, gather.dim) ||
      !are_dims(gather.of_indices, gather.places) || !are_dims(gather.offsets, operation.type().shape))
    return std::nullopt;
  const bool fits =
      gather.slice.size() == gather.offsets.size() && gather.others.size() == gather.places.size();
  return fits ? std::optional(gather) : std::nullopt;
}

// The value with its dims in this order.
int Permuted(int value, const std::vector<int64_t>& order, TensorProgramBuilder* builder) {
  std::vector<int64_t> shape;
  for (const int64_t dim : order) shape.push_back(builder->ShapeOf(value)[static_cast<size_t>(dim)]);
  return builder->Broadcast(value, std::move(shape), Inverse(order, order.size()));
}

// Takes with the batch first, then the dim; or, without a batch, with all dims in their order.
class GatherLowering {
 public:
  GatherLowering(const DimGather& gather, const SourceOperation& operation, TensorProgramBuilder* builder)
      : gather_(gather), operation_(operation), builder_(*builder), order_(gather.batch) {
    if (!order_.empty()) order_.push_back(gather.dim);
    for (int64_t dim = 0; dim < std::ssize(builder_.ShapeOf(operation.operands[0])); ++dim)
      if (!Has(order_, dim)) order_.push_back(dim);
    of_places_ = gather.of_indices;
    for (int64_t dim = 0; dim < std::ssize(gather.places); ++dim)
      if (!Has(of_places_, dim)) of_places_.push_back(dim);
  }

  int Run() {
    const int x = Permuted(operation_.operands[0], order_, &builder_);
    const size_t along = static_cast<size_t>(batches() == 0 ? gather_.dim : batches());
    const int taken = builder_.TakeAlong(x, Indices(), along);
    // The result's dims in the order in which they are now, then in their own.
    const std::vector<int64_t> now = ResultDims();
    std::vector<int64_t> made, own(now.size());
    for (const int64_t dim : now) {
      own[static_cast<size_t>(dim)] = std::ssize(made);
      made.push_back(operation_.type().shape[static_cast<size_t>(dim)]);
    }
    return Permuted(builder_.Reshape(taken, made), own, &builder_);
  }

 private:
  int64_t batches() const { return std::ssize(gather_.batch); }

  // The batch, and all others as one dim.
  int Indices() {
    const int indices =
        Permuted(builder_.Reshape(operation_.operands[1], gather_.places), of_places_, &builder_);
    const std::vector<int64_t> shape = builder_.ShapeOf(indices);
    std::vector<int64_t> flat(shape.begin(), shape.begin() + batches());
    flat.push_back(std::accumulate(shape.begin() + batches(), shape.end(), int64_t{1}, std::multiplies<>()));
    return builder_.Reshape(indices, std::move(flat));
  }

  // Which of the result's dims the taken tensor's become, in their order.
  std::vector<int64_t> ResultDims() const {
    std::vector<int64_t> dims;
    for (int64_t place = 0; place < batches(); ++place) dims.push_back(OfPlace(place));
    for (size_t i = static_cast<size_t>(batches()); i < order_.size(); ++i) {
      if (order_[i] == gather_.dim)
        for (int64_t place = batches(); place < std::ssize(of_places_); ++place)
          dims.push_back(OfPlace(place));
      const auto found = std::find(gather_.slice.begin(), gather_.slice.end(), order_[i]);
      if (found != gather_.slice.end())
        dims.push_back(gather_.offsets[static_cast<size_t>(found - gather_.slice.begin())]);
    }
    return dims;
  }
  int64_t OfPlace(int64_t place) const {
    return gather_.others[static_cast<size_t>(of_places_[static_cast<size_t>(place)])];
  }

  const DimGather& gather_;
  const SourceOperation& operation_;
  TensorProgramBuilder& builder_;
  std::vector<int64_t> order_, of_places_;  // of the operand's dims, and of those of the indices
};

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
  constexpr size_t kMostOperations = 10;  // of any such body: texts of others might be long
  if (body.arguments.size() != 4 || body.operations.empty() || body.operations.size() > kMostOperations ||
      body.operations.back().operands.size() != 2)
    return false;
  const std::string better = Cat("or(", direction, "($0,$2),NE($0,$0))"),
                    first = Cat("or(", better, ",and(EQ($0,$2),LT($1,$3)))");
  const std::vector<int>& returned = body.operations.back().operands;
  return BodyText(body, returned[0]) == Cat("select(", better, ",$0,$2)") &&
         BodyText(body, returned[1]) == Cat("select(", first, ",$1,$3)");
}

}  // namespace

LoweredValues LowerStablehloGather(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::optional<DimGather> gather = ReadGather(operation, *builder);
  if (!gather) return builder->Expected("a gather of whole slices along one dim");
  return std::vector{GatherLowering(*gather, operation, builder).Run()};
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
      places == nullptr || places->elements() > kMostFolded || places->shape != builder->ShapeOf(x) ||
      places->values != Iota(builder->ShapeOf(x), static_cast<size_t>(dims[0])).values ||
      begin != (most ? -HUGE_VAL : HUGE_VAL) || builder->FindNumber(operation.operands[3]) != 0)
    return builder->Expected("a reduction of one tensor, or argmax or argmin along one dim");
  const int place = builder->Reduce(x, most ? Operation::kArgmax : Operation::kArgmin, dims);
  const int value = most ? builder->Reduce(x, false, dims) : builder->ReduceMin(x, dims);
  return std::vector{value, place};
}

LoweredValues LowerReverse(const SourceOperation& operation, TensorProgramBuilder* builder) {
  std::vector<int64_t> dims = operation.of.Integers("dimensions");  // of TOSA: one axis
  if (operation.of.Find("axis") != nullptr) dims = operation.of.Integers("axis");
  int value = operation.operands[0];
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= std::ssize(builder->ShapeOf(value))) return builder->Expected("dims of the tensor");
    std::vector<double> places(static_cast<size_t>(builder->ShapeOf(value)[static_cast<size_t>(dim)]));
    std::iota(places.rbegin(), places.rend(), 0);
    value = builder->TakeAt(value, std::move(places), static_cast<size_t>(dim));
  }
  return std::vector{value};
}

}  // namespace kirsch
