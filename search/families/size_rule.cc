// SPDX-License-Identifier: Apache-2.0
#include "search/families/size_rule.h"

#include <utility>

namespace kirsch {
namespace {

// SymbolicSchedule can treat the rest of a division as the program did, for rows and for columns only.
SymbolicScheduleOptions OptionsAlong(size_t dim, SymbolicScheduleOptions options) {
  options.own_rest &= dim != MatmulDims::kK;
  return options;
}

// Members that differ in several sizes may have their operands in different caches. So a move may find its
// operand there already.
SymbolicScheduleOptions OptionsOf(const std::vector<size_t>& dims, SymbolicScheduleOptions options) {
  options.any_placement |= dims.size() > 1;
  options.rows_and_columns |= dims.size() > 1 && dims.front() == MatmulDims::kN;
  return options;
}

}  // namespace

SizeRule::SizeRule(Impl program, std::vector<size_t> dims, const CostModel& model,
                   const SymbolicScheduleOptions& options)
    : dims_(std::move(dims)),
      model_(model),
      options_(OptionsOf(dims_, options)),
      first_(std::move(program), dims_.front(), model, OptionsAlong(dims_.front(), options_)) {}

// The root with the program's sizes along all dims but the first.
Spec SizeRule::AlongFirst(const Spec& root) const {
  Spec along = root;
  for (size_t i = 1; i < dims_.size(); ++i) along = Resized(along, dims_[i], program().spec.size[dims_[i]]);
  return along;
}

SizeRule SizeRule::MakeRest(Impl program) const {
  return {std::move(program), {dims_.begin() + 1, dims_.end()}, model_, options_};
}

// The rule for the other dims. It is made of the program that the first dim's rule has for this root, and
// kept.
SizeRule& SizeRule::Rest(const Spec& along_first) {
  std::unique_ptr<SizeRule>& rest = rest_[along_first];
  if (rest == nullptr) rest = std::make_unique<SizeRule>(MakeRest(first_.Apply(along_first)));
  return *rest;
}

Cost SizeRule::Price(const Spec& placed_root) {
  const Spec along = AlongFirst(placed_root);
  const Cost cost = first_.Price(along);
  return single() || cost >= kInfiniteCost ? cost : Rest(along).Price(placed_root);
}

TileHeights SizeRule::HeightsOf(const Spec& placed_root) {
  const Spec along = AlongFirst(placed_root);
  return single() || dims_.front() == MatmulDims::kM ? first_.HeightsOf(along)
                                                     : Rest(along).HeightsOf(placed_root);
}

Impl SizeRule::Apply(const Spec& placed_root) {
  const Spec along = AlongFirst(placed_root);
  return single() ? first_.Apply(along) : Rest(along).Apply(placed_root);
}

std::optional<Impl> SizeRule::ApplyToRange(const Spec& least, const Spec& most) {
  // Where the program has a single row, it does not show how rows lie.
  if (!SymbolicStrides(Resized(most, dims_.front(), least.size[dims_.front()]), most, dims_.front()))
    return std::nullopt;
  // Each dim in turn: a program for a range of the first one is what the rule for the others begins with.
  std::optional<Impl> range = first_.ApplyToRange(AlongFirst(least), AlongFirst(most));
  if (!range || single()) return range;
  const size_t dim = dims_.front();
  return MakeRest(*std::move(range)).ApplyToRange(Resized(least, dim, most.size[dim]), most);
}

}  // namespace kirsch
