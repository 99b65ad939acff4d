// SPDX-License-Identifier: Apache-2.0
// Copies operands into layouts that some microkernel reads faster.
//
//   before -> after, for an rhs of f32 64x512 in RAM, rows 512 elements apart:
//     pack rhs L2 packed32 f32   the spec with a copy in L2: 16 panels of 64x32, one behind the other
#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "rewrites/spec/copy_forms.h"
#include "rewrites/spec/expansion_parts.h"
#include "rewrites/spec/operand_order.h"
#include "rewrites/spec/registry.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/block.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

void AppendPack(int operand, Level level, Dtype dtype, const Layout& layout,
                std::vector<Decision>* decisions) {
  Decision decision;
  decision.kind = RewriteKind::kPack;
  decision.operand = static_cast<uint8_t>(operand);
  decision.level = level;
  decision.layout = layout;
  decision.dtype = dtype;
  decisions->push_back(decision);
}

// Leaves the panel widths that a copy of a window may have. Copies of a window are made run by run: in plain
// rows, or in panels where no run begins inside of one, or a single panel has all.
void LeaveWholePanels(const Spec& spec, const DigitAxis& axis, std::vector<uint8_t>* widths) {
  const uint32_t size = spec.size[static_cast<size_t>(InnerDim(spec, spec.op_info().output()))];
  std::erase_if(*widths, [&](uint8_t width) {
    return axis.digits > 1 && axis.digit[0].count % width != 0 && width < size;
  });
  widths->push_back(0);
}

// True if blocks may be decoded without being turned, for dot products.
bool StaysInRows(const Spec& spec, int operand) {
  return IsOfBlocks(Operand(spec, operand).dtype) && spec.fixed_order == 0 &&
         ContiguousAlong(spec, MatmulDims::kLhs, MatmulDims::kK);
}

// Appends the copies of an operand at each of the levels, in each panel width.
void AppendCopies(const Spec& spec, int operand, absl::Span<const Level> levels, const Target& target,
                  std::vector<Decision>* decisions) {
  const int vector_dim = InnerDim(spec, spec.op_info().output());
  thread_local std::vector<uint8_t> widths;
  widths.assign(1, 0);
  if (spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(vector_dim)) {
    widths.clear();
    AppendPanelWidths(spec, target, &widths);
    if (IsWindow(spec, operand)) LeaveWholePanels(spec, *WindowAxis(spec, vector_dim), &widths);
  }
  const CopyFormList forms = CopyForms(spec, operand, target);
  for (Level level : levels)
    for (const CopyForm& form : forms) {
      for (uint8_t width : widths)
        AppendPack(operand, level, form.dtype, CopyLayout(spec, operand, form, width), decisions);
      if (StaysInRows(spec, operand) && !IsInPanels(form.dtype))
        AppendPack(operand, level, form.dtype, CopyLayout(spec, operand, {form.dtype, 1, false}, 0),
                   decisions);
    }
}

// True if blocks of the output would begin inside of panels.
bool CutsPanels(const Spec& spec, int operand, const Layout& layout) {
  if (spec.block == 0 || layout.panel == 0 || spec.block >= spec.size[static_cast<size_t>(BlockDim(spec))])
    return false;
  return spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(BlockDim(spec)) &&
         spec.block % layout.panel != 0;
}

// Returns how a copy lies. A dense one is taken to be walked from end to end, which tiles of a whole operand
// are not. So what is prepacked without panels has plain rows, padded unless they are to follow each other.
Layout LayoutOfCopy(const Spec& spec, const Decision& decision, const Target& target) {
  Layout layout = decision.layout;
  if (Operand(spec, decision.operand).constant == 0 || layout.panel != 0) return layout;
  Spec copy = spec;
  copy.operand[decision.operand].layout = layout;
  const int64_t inner = ExtentOf(copy, decision.operand).inner;
  const bool padded = layout.kind == LayoutKind::kPacked;
  layout.kind = LayoutKind::kStrided;
  layout.ld = static_cast<uint32_t>(padded ? PackedLd(inner, decision.dtype, target) : inner);
  return layout;
}

// True if codes of an rhs in panels may get 8 bits. Panels that keep blocks take less to bring, and more to
// multiply: to widen them once for many rows is enough.
bool MayGetWider(const Spec& spec, int operand) {
  const TensorSpec& rhs = Operand(spec, operand);
  return operand == MatmulDims::kRhs && GetsWider(rhs.dtype) && rhs.resident == 0 && AreIntegers(spec);
}

// Appends copies to panels that are as wide, closer than those are.
void AppendWiderPanels(const Spec& spec, int operand, absl::Span<const Level> levels,
                       std::vector<Decision>* decisions) {
  const TensorSpec& panels = Operand(spec, operand);
  for (Level level : levels)
    if (level < panels.level) AppendPack(operand, level, InPanels(panels.dtype), panels.layout, decisions);
}

// True if each element of the operand is used once. Then a copy of it as it is only adds to the work.
bool IsUsedOnce(const Spec& spec, int operand) {
  const OpInfo& op = spec.op_info();
  const OperandInfo &own = op.operands[static_cast<size_t>(operand)],
                    &out = op.operands[static_cast<size_t>(op.output())];
  for (int dim = 0; dim < op.num_dims; ++dim)
    if (out.UsesDim(dim) && !own.UsesDim(dim) && spec.size[static_cast<size_t>(dim)] > 1) return false;
  return !IsWindow(spec, operand);
}

// operand@X strided -> operand@Y packed, Y no slower than X and than the level being filled. Or from panels
// to wider ones.
void EnumeratePacks(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  if (spec.op_info().lanewise()) return;  // vectors of both inputs are contiguous
  const Level filling = FillingLevel(spec);
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    // A move without code brings data when it is first used; a copy would be that first use and wait for it.
    const bool wider = MayGetWider(spec, operand);
    if (!wider && !MayBeCopied(Operand(spec, operand))) continue;
    absl::InlinedVector<Level, kNumLevels> levels;
    for (Level level : {Level::kRam, Level::kL3, Level::kL2, Level::kL1})
      if (level <= filling && level <= Operand(spec, operand).level) levels.push_back(level);
    if (wider)
      AppendWiderPanels(spec, operand, levels, decisions);
    else
      AppendCopies(spec, operand, levels, target, decisions);
    if (IsUsedOnce(spec, operand))
      std::erase_if(*decisions, [&, &tensor = Operand(spec, operand)](const Decision& decision) {
        return decision.kind == RewriteKind::kPack && decision.operand == operand &&
               decision.dtype == tensor.dtype && decision.layout.group == 1 &&
               decision.layout.order == tensor.layout.order;
      });
  }
  // Blocks of the output begin at any multiple of their width, so a panel must not reach over two of them. A
  // copy that all blocks have in common is made before all of them, so it is placed where the operand is.
  if (spec.block == 0) return;
  std::erase_if(*decisions, [&](const Decision& decision) {
    if (decision.kind != RewriteKind::kPack) return false;
    const auto& operand = spec.op_info().operands[decision.operand];
    const bool common = !operand.UsesDim(BlockDim(spec));
    return CutsPanels(spec, decision.operand, decision.layout) ||
           (common && decision.level != spec.tensor(decision.operand).level);
  });
}

// Appends the copy of a constant operand of blocks as it is, its rows following each other.
void AppendDenseBlocks(const Spec& spec, int operand, std::vector<Decision>* decisions) {
  const TensorSpec& tensor = Operand(spec, operand);
  Layout rows = CopyLayout(spec, operand, {tensor.dtype, 1, false}, 0);
  rows.kind = LayoutKind::kStrided;
  AppendPack(operand, tensor.level, tensor.dtype, rows, decisions);
}

// Of an operand that is constant, at the level where it is placed: any copy, or plain rows.
void EnumerateConstantPacks(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const int operand = ConstantOperand(spec);
  const TensorSpec& tensor = Operand(spec, operand);
  AppendCopies(spec, operand, {tensor.level}, target, decisions);
  std::erase_if(*decisions,
                [&](const Decision& decision) { return CutsPanels(spec, operand, decision.layout); });
  if (IsOfBlocks(tensor.dtype)) return AppendDenseBlocks(spec, operand, decisions);
  // Plain rows, padded and dense. The padded ones may be among the copies already.
  const Layout padded = CopyLayout(spec, operand, {tensor.dtype, 1, false}, 0);
  const bool known = std::ranges::any_of(*decisions, [&](const Decision& decision) {
    return decision.layout == padded && decision.dtype == tensor.dtype;
  });
  if (!known) AppendPack(operand, tensor.level, tensor.dtype, padded, decisions);
  Layout rows = padded;
  rows.kind = LayoutKind::kStrided;
  AppendPack(operand, tensor.level, tensor.dtype, rows, decisions);
}

// A pack has one child: the same spec with the copy in place of the operand. A copy of a window is a plain
// matrix.
void ExpandPack(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion) {
  const TensorSpec& source = spec.operand[decision.operand];
  Spec child = spec;
  TensorSpec& copy = child.operand[decision.operand];
  copy.level = decision.level;
  copy.layout = LayoutOfCopy(spec, decision, target);
  copy.dtype = decision.dtype;
  copy.constant = 0;
  SettleRounding(&child);
  if (IsWindow(spec, decision.operand)) child.op = spec.op_info().strided;
  const TileExtent extent = ExtentOf(child, decision.operand);
  const int64_t elements = PackedElements(extent, copy.layout, decision.dtype, target);
  Transfer transfer{source.level, Level::kVrf, FootprintOf(spec, decision.operand, target), {}};
  expansion->transfers[static_cast<size_t>(expansion->num_transfers++)] = transfer;
  Transfer stored{decision.level, Level::kVrf, {}, FootprintOf(child, decision.operand, target)};
  expansion->transfers[static_cast<size_t>(expansion->num_transfers++)] = stored;
  // The copy walks its source a few rows at a time.
  expansion->transfers[0].in_order = true;
  expansion->transfers[0].a_tile_ahead = AsksAhead(spec, decision, target);
  expansion->copied_elements = elements;
  expansion->copy_transposes = source.layout.order != decision.layout.order;
  expansion->filled = decision.level;
  const int64_t bytes = Bytes(decision.dtype, elements);
  expansion->filled_lines = (bytes + target.line_bytes - 1) / target.line_bytes;
  if (source.constant != 0)  // the copy is there instead of the operand
    expansion->filled_lines =
        std::max<int64_t>(0, expansion->filled_lines - expansion->transfers[0].read.lines);
  AddChild(child, 1, expansion);
}

}  // namespace

const SpecRewrite kPackAhead = {
    .kind = RewriteKind::kPack,
    .applies = [](const Spec&, SpecStage stage) { return stage == SpecStage::kConstant; },
    .enumerate = EnumerateConstantPacks};

const SpecRewrite kPack = {
    .kind = RewriteKind::kPack, .applies = MayBePlaced, .enumerate = EnumeratePacks, .expand = ExpandPack};

}  // namespace kirsch
