// SPDX-License-Identifier: Apache-2.0
// Imports dots: which axes become rows, steps and columns of a matmul, and which its batches.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/kernel_importer.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// A factor that one or both operands have: the axis of each, or kUnit.
struct DotAxis {
  int64_t size = 1;
  int of[2] = {kUnit, kUnit};
};

// A matmul that computes the product. The lists are indices into all axes.
struct DotPlan {
  int lhs = 0;               // the operand that is the matmul's lhs
  std::vector<int> leading;  // batches, the outermost first
  int rows = kUnit, steps = kUnit, columns = kUnit;
  double cost = std::numeric_limits<double>::infinity();
};

// Puts axes of size 1 between the leading ones where a placed operand has them: a reduction leaves such axes.
// `placed` is that operand's order, `side` its number. Where this doesn't suit, all stays as it is.
//
//   [2,1,1,32] by [32,10]: batches 2, 1; rows 1; steps 32
std::vector<int> WithUnitsOf(const AxisOrder& placed, size_t side, const std::vector<DotAxis>& axes,
                             const std::vector<int>& leading) {
  const auto own = [&](int axis) { return axis == kUnit ? kUnit : axes[static_cast<size_t>(axis)].of[side]; };
  std::vector<int> with_units;
  size_t next = 0;
  for (size_t slot = 0; slot + 2 < placed.size(); ++slot) {
    const bool fits = next < leading.size() && own(leading[next]) == placed[slot];
    if (!fits && placed[slot] != kUnit) return leading;
    with_units.push_back(fits ? leading[next++] : kUnit);
  }
  return next == leading.size() ? with_units : leading;
}

// Rows or columns as batches make many products of vectors: worse than to transpose both operands.
constexpr double kVectorCost = 4;

bool Multiplies(Dtype lhs, Dtype rhs) {
  return std::any_of(kMatmulTypes.begin(), kMatmulTypes.end(),
                     [&](const MatmulTypes& row) { return IsSupported({lhs, rhs, row.out}); });
}

}  // namespace

absl::Status KernelImporter::InferDotFactors(const TensorOperation& operation) {
  const DotDims& dims = operation.dot;
  const auto dim_of = [&](int value, int64_t dim) -> const DimFactors::List& {
    return dims_[static_cast<size_t>(value)][static_cast<size_t>(dim)];
  };
  struct Alike {
    int side;
    int64_t dim;
    const DimFactors::List* as;
  };
  std::vector<Alike> alike, results;
  const auto add = [&](int side, int64_t dim) {
    results.push_back({side, dim, &dim_of(operation.result, std::ssize(results))});
  };
  for (size_t i = 0; i < dims.contract[0].size(); ++i)
    alike.push_back({0, dims.contract[0][i], &dim_of(operation.operands[1], dims.contract[1][i])});
  for (size_t i = 0; i < dims.batch[0].size(); ++i) {
    alike.push_back({0, dims.batch[0][i], &dim_of(operation.operands[1], dims.batch[1][i])});
    add(0, dims.batch[0][i]);
  }
  for (int side = 0; side < 2; ++side)
    for (const int64_t dim : dims.free[side]) add(side, dim);
  alike.insert(alike.end(), results.begin(), results.end());
  for (const auto& [side, dim, as] : alike)
    if (!Unify(operation, side, dim, *as).ok())
      return Expected(operation, "sizes that go together, and that reshapes split alike");
  return absl::OkStatus();
}

absl::Status KernelImporter::ImportDot(const TensorOperation& operation) {
  const DotDims& dims = operation.dot;
  std::array<ImportedValue, 2> operands;
  for (size_t side = 0; side < 2; ++side) {
    KIRSCH_ASSIGN_OR_RETURN(operands[side], AsTensor(operation, operation.operands[side]));
  }
  // A sum over a dim has all its elements.
  for (size_t side = 0; side < 2; ++side)
    for (const int64_t dim : dims.contract[side])
      for (const ViewFactor& factor : operands[side].dims[static_cast<size_t>(dim)])
        if (factor.axis == kUnit) {
          operands[side] = Whole(operands[side]);
          break;
        }
  // An order that suits one side may not suit the other.
  if (operands[0].value == operands[1].value) writer_.PlaceAsItLies(operands[0].value);
  // 1. All factors of batches, then of what is left of each side, which is the result's order; then those
  // that are summed over.
  std::vector<DotAxis> axes;
  const auto add_shared = [&](const std::vector<int64_t>(&lists)[2]) {
    for (size_t i = 0; i < lists[0].size(); ++i) {
      const auto& lhs = operands[0].dims[static_cast<size_t>(lists[0][i])];
      const auto& rhs = operands[1].dims[static_cast<size_t>(lists[1][i])];
      for (size_t f = 0; f < lhs.size(); ++f) axes.push_back({lhs[f].size, {lhs[f].axis, rhs[f].axis}});
    }
  };
  add_shared(dims.batch);
  for (size_t side = 0; side < 2; ++side)
    for (const int64_t dim : dims.free[side])
      for (const ViewFactor& factor : operands[side].dims[static_cast<size_t>(dim)]) {
        axes.push_back({factor.size, {kUnit, kUnit}});
        axes.back().of[side] = factor.axis;
      }
  const int results = static_cast<int>(axes.size());
  add_shared(dims.contract);
  // 2. The matmul that takes the fewest transposes, of all that there are.
  const auto axis_at = [&](int axis) -> const DotAxis& { return axes[static_cast<size_t>(axis)]; };
  const auto only_in = [&](size_t side) {
    std::vector<int> found;
    for (int axis = 0; axis < results; ++axis)
      if (axis_at(axis).of[side] != kUnit && axis_at(axis).of[1 - side] == kUnit) found.push_back(axis);
    found.push_back(kUnit);  // all of them are batches, if nothing else will do
    return found;
  };
  // 0, 1: the only side that has the axis; 2: both have it.
  const auto side_of = [&](int axis) -> size_t {
    return axis_at(axis).of[1] == kUnit ? 0 : axis_at(axis).of[0] == kUnit ? 1 : 2;
  };
  std::vector<int> sums;
  for (int axis = results; axis < static_cast<int>(axes.size()); ++axis) sums.push_back(axis);
  if (sums.empty()) sums.push_back(kUnit);
  size_t rank = 0;
  const auto order_of = [&](size_t side, const DotPlan& plan) {
    const auto own = [&](int axis) { return axis == kUnit ? kUnit : axis_at(axis).of[side]; };
    AxisOrder order;
    for (const int axis : plan.leading) order.push_back(own(axis));
    const bool is_lhs = static_cast<int>(side) == plan.lhs;
    order.push_back(own(is_lhs ? plan.rows : plan.steps));
    order.push_back(own(is_lhs ? plan.steps : plan.columns));
    while (order.size() < rank) order.insert(order.begin(), kUnit);
    return order;
  };
  DotPlan best;
  size_t wanted_rank = 0;
  for (int lhs = 0; lhs < 2; ++lhs)
    for (const int rows : only_in(static_cast<size_t>(lhs)))
      for (const int columns : only_in(static_cast<size_t>(1 - lhs)))
        for (const int steps : sums)
          for (const bool alone_first : {false, true}) {
            DotPlan plan{lhs, {}, rows, steps, columns};
            // Batches of both sides come first, in the order in which an operand has them; then those of a
            // single side, whose matrices share the other's; where no batch is of both, those of lhs, then of
            // rhs. Or the other way round.
            std::array<bool, 3> has = {};  // batches of lhs alone, of rhs alone, of both
            for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis) {
              const DotAxis& a = axis_at(axis);
              if (axis == rows || axis == columns || axis == steps || (a.of[0] == kUnit && a.of[1] == kUnit))
                continue;
              has[side_of(axis)] = true;
              plan.leading.push_back(axis);
            }
            if (has[0] && has[1] && has[2]) continue;
            const auto place = [&](int axis) {
              for (size_t side = 0; side < 2; ++side) {
                const KernelValue& value = writer_.at(operands[side].value);
                if (!value.placed || axis_at(axis).of[side] == kUnit) continue;
                return std::find(value.order.begin(), value.order.end(), axis_at(axis).of[side]) -
                       value.order.begin();
              }
              return std::ptrdiff_t{axis < results ? axis : axis - static_cast<int>(axes.size())};
            };
            std::stable_sort(plan.leading.begin(), plan.leading.end(), [&](int a, int b) {
              const auto rank = [&](int axis) { return (side_of(axis) + 1) % 3; };
              return rank(a) != rank(b) ? (rank(a) < rank(b)) != alone_first : place(a) < place(b);
            });
            for (size_t side = 0; side < 2; ++side)
              if (const KernelValue& value = writer_.at(operands[side].value);
                  value.placed && value.order.size() > plan.leading.size() + 2)
                plan.leading = WithUnitsOf(value.order, side, axes, plan.leading);
            rank = std::max(least_rank_, plan.leading.size() + 2);
            for (const ImportedValue& operand : operands)
              if (writer_.at(operand.value).placed)
                rank = std::max(rank, writer_.at(operand.value).order.size());
            std::array<std::optional<int>, 2> costs, aligned;
            for (size_t side = 0; side < 2; ++side) {
              costs[side] = writer_.CostOf(operands[side].value, order_of(side, plan), true);
              aligned[side] = writer_.CostOf(operands[side].value, order_of(side, plan), false);
            }
            if (aligned[0] && aligned[1] && (!costs[0] || !costs[1]))
              wanted_rank = std::max(wanted_rank, rank);
            if (!costs[0] || !costs[1]) continue;
            // A transposed parameter is only read otherwise.
            for (size_t side = 0; side < 2; ++side)
              plan.cost = (side == 0 ? 0 : plan.cost) +
                          *costs[side] * (writer_.at(operands[side].value).parameter ? 0.5 : 1);
            const Dtype left = writer_.at(operands[static_cast<size_t>(lhs)].value).type,
                        right = writer_.at(operands[static_cast<size_t>(1 - lhs)].value).type;
            plan.cost += (Multiplies(left, right) ? 0 : 1) + 0.25 * static_cast<double>(plan.leading.size());
            plan.cost += kVectorCost * ((rows == kUnit && has[static_cast<size_t>(lhs)] ? 1 : 0) +
                                        (columns == kUnit && has[static_cast<size_t>(1 - lhs)] ? 1 : 0));
            // Of several axes, the inner ones become rows, steps and columns.
            plan.cost -= 0.01 * (std::max(rows, 0) + std::max(columns, 0) + std::max(steps, 0));
            if (plan.cost < best.cost) best = plan;
          }
  // If an operand is copied in any case, its sum is over single axes. If nothing else will do, so is all.
  const bool impossible = best.cost == std::numeric_limits<double>::infinity();
  bool splits = false;
  for (int side = 0; side < 2 && best.cost >= kCopyCost; ++side)
    for (const auto* list : {&dims.contract[side], &dims.free[side], &dims.batch[side]})
      for (const int64_t dim : *list)
        if (impossible || list == &dims.contract[side]) splits |= !WantOneFactor(operation, side, dim);
  for (int64_t dim = 0; dim < std::ssize(DimsOf(operation.result)) && impossible; ++dim)
    splits |= !WantOneFactor(operation, kResult, dim);
  if (splits && may_copy_) return Expected(operation, "dims that no reshape splits");
  if (impossible) {
    wanted_rank_ = std::max(wanted_rank_, wanted_rank);
    return Expected(
        operation,
        "operands that a matmul takes: batches in the same order in front, of which one side may have more, "
        "rows, and columns");
  }
  // 3. The matmul, of types that go together.
  rank = std::max(least_rank_, best.leading.size() + 2);
  for (const ImportedValue& operand : operands)
    if (writer_.at(operand.value).placed) rank = std::max(rank, writer_.at(operand.value).order.size());
  std::array<KernelArgument, 2> arguments;
  for (const size_t side : {static_cast<size_t>(best.lhs), static_cast<size_t>(1 - best.lhs)}) {
    KernelArgument argument = writer_.Place(operands[side].value, order_of(side, best), true);
    // What the program rounds before it multiplies is rounded.
    const std::optional<Dtype> element = ElementOf(TypeOf(operation.operands[side]).element);
    const Dtype held = writer_.at(argument.value).type;
    if (element && IsFloating(held) && IsFloating(*element) && Bytes(*element) < Bytes(held))
      argument.value = Cast(argument.value, *element, operation.position);
    arguments[static_cast<int>(side) == best.lhs ? 0 : 1] = argument;
  }
  if (!Multiplies(writer_.at(arguments[0].value).type, writer_.at(arguments[1].value).type))
    for (KernelArgument& argument : arguments)
      argument.value =
          Cast(argument.value, AccumulatorOf(writer_.at(argument.value).type), operation.position);
  KernelValue product;
  product.position = operation.position;
  product.operation = "matmul";
  product.arguments = {arguments[0], arguments[1]};
  product.type = AccumulatorOf(writer_.at(arguments[0].value).type);
  std::vector<int> view(axes.size(), kUnit);
  std::vector<int> order = best.leading;
  order.push_back(best.rows);
  order.push_back(best.columns);
  while (order.size() < rank) order.insert(order.begin(), kUnit);
  for (const int axis : order) {
    const int added = product.AddAxis(axis == kUnit ? 1 : axis_at(axis).size);
    if (axis != kUnit) view[static_cast<size_t>(axis)] = added;
  }
  int value = writer_.AddOperation(product);
  // 4. Further axes of the sum were batches so far.
  KernelValue sum = product;
  sum.operation = "reduce_sum";
  sum.arguments = {{std::nullopt, value, false}};
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] >= results) {
      sum.options.push_back(Cat("axis=", i));
      sum.order[i] = kUnit;
    }
  if (!sum.options.empty()) value = writer_.AddOperation(std::move(sum));
  view.resize(static_cast<size_t>(results));
  Set(operation.result, {std::nullopt, value, ViewOf(operation.result, view)});
  return absl::OkStatus();
}

}  // namespace kirsch
