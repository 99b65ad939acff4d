// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/copy_forms.h"

#include <algorithm>
#include <optional>

#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/rewrite.h"
#include "spec/block.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Returns the copies that are made for this arithmetic. Lhs is broadcast element by element (or group by
// group), so its copy widens it, if any does. Of rhs either has its merits: groups, or words that are
// widened. Groups of lhs need it contiguous along the reduction.
//
//   f32 = bf16 * bf16 by dot products of pairs: lhs as it is, turned if it is in columns; rhs in groups of 2
CopyFormList CopyFormsFor(Arithmetic arithmetic, const Spec& spec, int operand) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const Dtype own = Operand(spec, operand).dtype, lane = LaneType(arithmetic, operand, own);
  const int group = Info(arithmetic).group;
  if (operand == kLhs)
    return {{lane, 1,
             Info(arithmetic).groups_lhs() && !IsWindow(spec, kLhs) && !ContiguousAlong(spec, kLhs, kK)}};
  // Words of a window would be of several of its runs.
  if (IsWindow(spec, kRhs)) return {{own, 1, false}};
  if (!LhsSuits(spec, arithmetic) && !MayBeCopied(Operand(spec, kLhs))) return {};
  const bool turned = !ContiguousAlong(spec, kRhs, InnerDim(spec, spec.op_info().output()));
  if (IsOfBlocks(own)) return {{lane, group, turned}};
  if (own == lane) return {{own, group, turned}};
  return {{own, group, turned}, {lane, WordElements(lane), turned}};
}

// True if there are products of rows of lhs, as integers of this type, and such an rhs.
bool HasProductsOfIntegers(Dtype lhs, Dtype rhs, const Target& target) {
  return Info(BestArithmetic(lhs, rhs, target)).scales;
}
bool HasProductsInPanels(Dtype rhs, const Target& target) {
  return HasProductsOfIntegers(Dtype::kQ8, InPanels(rhs), target);
}

// True if rows of lhs may still become integers that share scales.
bool MayBecomeIntegers(const Spec& spec, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs;
  return spec.lhs_as == LhsAs::kQ8 && MayBeCopied(Operand(spec, kLhs)) && !IsWindow(spec, kLhs) &&
         ContiguousAlong(spec, kLhs, MatmulDims::kK) &&
         HasProductsOfIntegers(RoundedBeside(Operand(spec, MatmulDims::kRhs).dtype),
                               Operand(spec, MatmulDims::kRhs).dtype, target);
}

// Returns the copies for products of integers. Beside an lhs of integers, rhs stays as it is, or its codes
// get 8 bits in panels. They keep their bits and factors where copies are made ahead, as these come from
// memory in every run. Beside an lhs that is to become integers, no other copy of it is of use.
CopyFormList CopyFormsOfIntegers(const Spec& spec, int operand, const Target& target) {
  const Dtype rhs = Operand(spec, MatmulDims::kRhs).dtype;
  if (!AreIntegers(spec) && !MayBecomeIntegers(spec, target)) return {};
  const bool goes_in_panels = !IsInPanels(rhs) && HasProductsInPanels(rhs, target);
  if (operand == MatmulDims::kLhs) {
    // A constant lhs that has become integers ahead lies as any other does, but is not rounded once more.
    if (AreIntegers(spec)) return {};
    const CopyForm form = {RoundedBeside(rhs), 1, false}, for_panels = {Dtype::kQ8, 1, false};
    if (form == for_panels || !goes_in_panels || !MayBeCopied(Operand(spec, MatmulDims::kRhs))) return {form};
    return {form, for_panels};
  }
  if (!goes_in_panels || (AreIntegers(spec) && Operand(spec, MatmulDims::kLhs).dtype != Dtype::kQ8))
    return {};
  const CopyForm wide = {InPanels(rhs), Info(Arithmetic::kDotPanels).group, true};
  CopyFormList forms = {wide};
  if (Operand(spec, operand).constant == 0) return forms;
  for (const DtypeInfo& panels : kDtypes)
    if (KeepsBlocks(panels.dtype, rhs)) forms.push_back({panels.dtype, wide.group, true});
  return forms;
}

// Appends the forms that are not there yet.
void AddNew(const CopyFormList& more, CopyFormList* forms) {
  for (const CopyForm& form : more)
    if (std::ranges::find(*forms, form) == forms->end()) forms->push_back(form);
}

// True if the type in which lhs is multiplied once it is copied is the same for all copies. `*lane`: that
// type.
bool HasOneLaneType(const Spec& spec, const Target& target, Dtype* lane) {
  *lane = Operand(spec, MatmulDims::kLhs).dtype;
  if (!MayBeCopied(Operand(spec, MatmulDims::kLhs))) return true;
  const CopyFormList forms = CopyForms(spec, MatmulDims::kLhs, target);
  if (!forms.empty()) *lane = forms.front().dtype;
  return std::ranges::all_of(forms, [&](const CopyForm& form) { return form.dtype == *lane; });
}

// True if the same instructions multiply both, where rhs is of this type and in such groups, or where loads
// make the groups that the best ones take (MayInterleave).
bool AreMultipliedAlike(const Spec& spec, const Spec& other, Dtype rhs, int group, const Target& target) {
  const Dtype lhs = Operand(spec, MatmulDims::kLhs).dtype, other_lhs = Operand(other, MatmulDims::kLhs).dtype;
  return ArithmeticOf(lhs, rhs, group, target) == ArithmeticOf(other_lhs, rhs, group, target) &&
         BestArithmetic(lhs, rhs, target) == BestArithmetic(other_lhs, rhs, target);
}

}  // namespace

CopyFormList CopyForms(const Spec& spec, int operand, const Target& target) {
  const Arithmetic own = BestArithmetic(spec, target);
  const CopyFormList integers = CopyFormsOfIntegers(spec, operand, target);
  if (AreIntegers(spec) || IsInPanels(Operand(spec, MatmulDims::kRhs).dtype)) return integers;
  CopyFormList forms = CopyFormsFor(own, spec, operand);
  if (const std::optional<Arithmetic> tiles = TilesOf(spec, target); tiles && tiles != own)
    AddNew(CopyFormsFor(*tiles, spec, operand), &forms);
  if (!LhsSuits(spec, own) && Operand(spec, MatmulDims::kRhs).layout.group == 1)
    AddNew(CopyFormsFor(PlainArithmetic(Operand(spec, MatmulDims::kLhs).dtype), spec, operand), &forms);
  forms.insert(forms.end(), integers.begin(), integers.end());
  // Copies of f16 are smaller; they are multiplied by the same instructions.
  if (spec.lhs_as == LhsAs::kF16) {
    if (operand == MatmulDims::kLhs) forms.push_back({ElementAs(spec.lhs_as), 1, false});
    return forms;
  }
  const Arithmetic rounded = ArithmeticOfRounded(target);
  if (spec.lhs_as == LhsAs::kItself || rounded == own || Info(rounded).lhs != Dtype::kBf16) return forms;
  AddNew(CopyFormsFor(rounded, spec, operand), &forms);
  return forms;
}

std::optional<Spec> WithoutLhs(const Spec& spec, const Target& target) {
  Spec easier = spec;
  TensorSpec& lhs = easier.operand[MatmulDims::kLhs];
  const TensorSpec& rhs = Operand(spec, MatmulDims::kRhs);
  lhs.level = Level::kVrf;
  lhs.layout = kDense;
  lhs.resident = 0;
  if (IsPlain(spec)) return easier;
  if (!HasOneLaneType(spec, target, &lhs.dtype) ||
      BestArithmetic(spec, target) != BestArithmetic(easier, target) ||
      TilesOf(spec, target) != TilesOf(easier, target) ||
      !AreMultipliedAlike(spec, easier, rhs.dtype, rhs.layout.group, target))
    return std::nullopt;
  if (!MayBeCopied(rhs)) return easier;
  const CopyFormList kept = CopyForms(easier, MatmulDims::kRhs, target);
  for (const CopyForm& form : CopyForms(spec, MatmulDims::kRhs, target))
    if (std::ranges::find(kept, form) == kept.end() ||
        !AreMultipliedAlike(spec, easier, form.dtype, form.group, target))
      return std::nullopt;
  return easier;
}

Layout CopyLayout(const Spec& spec, int operand, const CopyForm& form, uint8_t panel) {
  Layout copy = Operand(spec, operand).layout;
  copy.kind = LayoutKind::kPacked;
  copy.ld = 0;
  copy.panel = panel;
  copy.group = static_cast<uint8_t>(form.group);
  if (form.turned) copy.order = Turned(copy.order);
  return copy;
}

}  // namespace kirsch
