// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/move.h"

#include <algorithm>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "rewrites/spec/prefetch.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/block.h"
#include "spec/microkernel.h"
#include "spec/sum_blocks.h"

namespace kirsch {
namespace {

const TensorSpec& Operand(const Spec& spec, int operand) { return spec.tensor(operand); }

// True if the operand is written. Epilogue operands come after the output.
bool IsOutput(const Spec& spec, int operand) { return operand == spec.op_info().output(); }

// True if the tile is a whole row of a matrix without gaps, along the reduction: the next row follows it.
bool IsOneStream(const Spec& spec, int operand, const Target& target) {
  const TensorSpec& tensor = Operand(spec, operand);
  const TileExtent extent = ExtentOf(spec, operand);
  return tensor.layout.kind == LayoutKind::kStrided && extent.outer * extent.batch == 1 &&
         Bytes(tensor.dtype, int64_t{tensor.layout.ld} - extent.inner) <= target.line_bytes;
}

// Notes that the operand's tile comes from its level to `to`, once per run of the node.
void AddTransfer(const Spec& spec, int operand, Level to, const Footprint& footprint, const Target& target,
                 Expansion* expansion) {
  Transfer transfer{Operand(spec, operand).level, to, {}, {}};
  // A line that is only written is still fetched first (write-allocate), so the output is always read.
  transfer.read = footprint;
  if (IsReduction(spec, InnerDim(spec, operand))) {
    transfer.one_stream = IsOneStream(spec, operand, target);
    transfer.new_runs = transfer.one_stream ? 0 : footprint.runs;
  }
  if (IsOutput(spec, operand)) transfer.written = footprint;
  expansion->transfers[static_cast<size_t>(expansion->num_transfers++)] = transfer;
}

Transfer& LastTransfer(Expansion* expansion) {
  return expansion->transfers[static_cast<size_t>(expansion->num_transfers - 1)];
}

// Adds the only child of a move or a pack, which runs once.
void AddChild(const Spec& spec, Expansion* expansion) {
  expansion->children[expansion->num_children++] = {spec, 1, 1};
}

// Says how a copy may differ from its operand beside its panels.
struct CopyForm {
  Dtype dtype;
  int group;
  bool turned;  // the other axis becomes the contiguous one

  friend bool operator==(const CopyForm&, const CopyForm&) = default;
};

// True if neighbours along the dim are neighbours in memory; of a window, within a run.
bool ContiguousAlong(const Spec& spec, int operand, int dim) {
  if (InnerDim(spec, operand) != dim) return false;
  return !IsWindow(spec, operand) || WindowAxis(spec, dim)->stride(0) == 1;
}

// True if lhs can be read as the arithmetic takes it: in groups of steps, where it has groups. No group may
// be in two runs of a window.
bool LhsSuits(const Spec& spec, Arithmetic arithmetic) {
  const auto group = static_cast<uint32_t>(Info(arithmetic).group);
  const bool contiguous = ContiguousAlong(spec, MatmulDims::kLhs, MatmulDims::kK);
  if (group == 1) return true;
  if (!IsWindow(spec, MatmulDims::kLhs)) return contiguous || !Info(arithmetic).groups_lhs();
  const DigitAxis& steps = *WindowAxis(spec, MatmulDims::kK);
  return contiguous && (steps.digits == 1 || steps.digit[0].count % group == 0);
}

using CopyFormList = absl::InlinedVector<CopyForm, 4>;

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

// True if rows of lhs may still become integers that share scales. AreIntegers: they are such integers.
bool MayBecomeIntegers(const Spec& spec, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs;
  return spec.lhs_as == LhsAs::kQ8 && MayBeCopied(Operand(spec, kLhs)) && !IsWindow(spec, kLhs) &&
         ContiguousAlong(spec, kLhs, MatmulDims::kK) &&
         HasProductsOfIntegers(RoundedBeside(Operand(spec, MatmulDims::kRhs).dtype),
                               Operand(spec, MatmulDims::kRhs).dtype, target);
}
bool AreIntegers(const Spec& spec) { return IsRounded(Operand(spec, MatmulDims::kLhs).dtype); }

// True if lhs has been rounded for another rhs than this one: rhs has to go into panels then.
bool IsMeantForPanels(const Spec& spec) {
  const Dtype lhs = Operand(spec, MatmulDims::kLhs).dtype, rhs = Operand(spec, MatmulDims::kRhs).dtype;
  return AreIntegers(spec) && !IsInPanels(rhs) && lhs != RoundedBeside(rhs);
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

// Returns the arithmetic of a matrix unit for these types; nothing if there is none.
std::optional<Arithmetic> TilesOf(const Spec& spec, const Target& target) {
  return TileArithmetic(Operand(spec, MatmulDims::kLhs).dtype, Operand(spec, MatmulDims::kRhs).dtype, target);
}

// Appends the forms that are not there yet.
void AddNew(const CopyFormList& more, CopyFormList* forms) {
  for (const CopyForm& form : more)
    if (std::find(forms->begin(), forms->end(), form) == forms->end()) forms->push_back(form);
}

// Returns all copies of the operand. They are for the best arithmetic. If that needs lhs in groups in which
// it does not lie, there are also those for the plain one, which takes any lhs. A copy may also round what
// may be rounded.
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

// Returns the layout of a packed copy: panels along the output's vector dim, if the operand has it; else
// dense.
Layout CopyLayout(const Spec& spec, int operand, const CopyForm& form, uint8_t panel) {
  Layout copy = Operand(spec, operand).layout;
  copy.kind = LayoutKind::kPacked;
  copy.ld = 0;
  copy.panel = panel;
  copy.group = static_cast<uint8_t>(form.group);
  if (form.turned) copy.order = copy.order == Order::kRow ? Order::kCol : Order::kRow;
  return copy;
}

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

// True if a tile may read several panels side by side. Those are several streams of whole vectors, which is
// of use only where they come from far.
bool ReadsSeveralPanels(const Spec& spec, const VectorUnit& unit) {
  const TensorSpec& rhs = Operand(spec, MatmulDims::kRhs);
  return rhs.level >= Level::kL3 && rhs.layout.panel % unit.lanes(AccumulatorOf(spec)) == 0;
}

// True if vectors of this unit can hold the codes of rhs. Integers of blocks are read a vector at a time: of
// words, no more than are neighbours; of bytes, as many as share a scale of lhs. Floats of 8 bits are decoded
// as vectors of bytes, for which the widest ones need AVX-512BW.
bool CodesSuit(const Spec& spec, Arithmetic arithmetic, const VectorUnit& unit, const Target& target) {
  const Dtype rhs = Operand(spec, MatmulDims::kRhs).dtype;
  if (IsOfBlocks(rhs) && FormatOf(rhs).codes == BlockCodes::kFloats8)
    return unit.bytes < 64 || target.HasFeature("avx512bw");
  if (!Info(arithmetic).scales) return true;
  const int steps = unit.lanes(Info(arithmetic).accumulator()) * Info(arithmetic).group;
  if (Info(arithmetic).group == kWordBytes) return steps == BlockOf(Dtype::kQ8);
  return steps <= Info(rhs).code_run;
}

// True if a matrix unit can load the operands. Its tiles are loaded row by row at one distance: of lhs, steps
// of the reduction; of rhs, a vector of groups. Their sums are long, and in no order that anyone could ask
// for.
bool SuitsTiles(const Spec& spec, const Instruction& row, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const int lanes = target.vectors.front().lanes(row.accumulator());
  if (spec.fixed_order != 0) return false;
  if (IsFloating(row.accumulator()) && spec.size[kK] > kSumBlock * lanes) return false;
  if (spec.ideal == kIdealInputs) return true;
  const Layout& rhs = Operand(spec, kRhs).layout;
  if (rhs.group != row.group || rhs.panel % lanes != 0) return false;
  return spec.ideal == kIdealLhs || (!IsWindow(spec, kLhs) && ContiguousAlong(spec, kLhs, kK));
}

// True if the register layout and its groups suit the layouts of both inputs. In outer products vectors run
// along the output's inner dim: rhs must be contiguous along it, within one panel or whole vectors of
// several. Where lhs has groups, it must be contiguous along the reduction. Partial sums run along the
// reduction, so both inputs must.
bool OperandsSuit(const Spec& spec, LayoutKind form, Arithmetic arithmetic, const VectorUnit& unit,
                  const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const Layout& rhs = Operand(spec, kRhs).layout;
  if (form == LayoutKind::kLanewise) return true;
  if (form == LayoutKind::kTiles && !SuitsTiles(spec, Info(arithmetic), target)) return false;
  if (form == LayoutKind::kPartialSums)
    return spec.fixed_order == 0 && CodesSuit(spec, arithmetic, unit, target) &&
           ContiguousAlong(spec, kLhs, kK) && ContiguousAlong(spec, kRhs, kK) && rhs.panel == 0 &&
           !IsWindow(spec, kLhs);
  if (rhs.panel != 0 && ExtentOf(spec, kRhs).inner > rhs.panel && !ReadsSeveralPanels(spec, unit))
    return false;
  // Vectors lie in one run of a window.
  if (IsWindow(spec, kRhs) && WindowAxis(spec, MatmulDims::kN)->digits > 1) return false;
  if (!ContiguousAlong(spec, kRhs, InnerDim(spec, spec.op_info().output()))) return false;
  return spec.ideal || form == LayoutKind::kTiles ||
         (rhs.group == Info(arithmetic).group && LhsSuits(spec, arithmetic));
}

// True if no microkernel can read the operand as it lies, whatever the tile. It must be copied, so it is not
// moved. Lhs across the reduction is no partner of groups.
bool NeedsCopy(const Spec& spec, int operand, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const bool rhs_along_k = ContiguousAlong(spec, kRhs, kK);
  if (operand == kLhs && IsInPanels(Operand(spec, kRhs).dtype) && !AreIntegers(spec)) return true;
  if (operand == kRhs && IsWindow(spec, kRhs)) return !ContiguousAlong(spec, kRhs, MatmulDims::kN);
  if (spec.fixed_order != 0) return operand == kRhs && rhs_along_k;
  if (spec.ideal) return false;
  if (operand == kRhs && IsMeantForPanels(spec)) return true;
  if (operand == kRhs) return rhs_along_k && !ContiguousAlong(spec, kLhs, kK);
  if (operand != kLhs) return false;
  return Operand(spec, kRhs).layout.group > 1 && !LhsSuits(spec, BestArithmetic(spec, target));
}

}  // namespace

// operand@X -> operand@Y, Y faster than X and no slower than the level being filled. Operands of the epilogue
// stay where they are: each is read once, or it is a vector.
void EnumerateMoves(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const Level filling = FillingLevel(spec);
  for (int operand = 0; operand <= spec.op_info().output(); ++operand) {
    if (NeedsCopy(spec, operand, target)) continue;
    for (Level level : {Level::kL3, Level::kL2, Level::kL1}) {
      if (level > filling || level >= Operand(spec, operand).level) continue;
      Decision decision;
      decision.kind = RewriteKind::kMove;
      decision.operand = static_cast<uint8_t>(operand);
      decision.level = level;
      decisions->push_back(decision);
    }
  }
}

namespace {

// True if the microkernels below prefetch what is moved, each for the tile of columns behind its own.
bool AreColumnsPrefetched(const Spec& spec, const Decision& decision) {
  return decision.operand == MatmulDims::kRhs && decision.level <= Level::kL2 &&
         spec.operand[MatmulDims::kRhs].level > Level::kL2 && RhsIsReadInColumns(spec);
}

// Notes that the columns are one long stream, of which as much is on its way as microkernels look ahead.
void AskForColumnsAhead(const Spec& spec, const Target& target, Transfer* transfer) {
  const int64_t column = Bytes(spec.operand[MatmulDims::kRhs].dtype, spec.size[MatmulDims::kK]);
  transfer->a_tile_ahead = transfer->one_stream = true;
  transfer->ahead_lines = ColumnsAhead(spec) * column / target.line_bytes;
  transfer->new_runs = 0;
}

}  // namespace

// A move has one child: the same spec with the operand at its new level. Only a move into registers also
// changes what is left to compute.
void ExpandMove(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion) {
  Spec child = spec;
  TensorSpec& moved = child.operand[decision.operand];
  const Footprint footprint = FootprintOf(spec, decision.operand, target);
  moved.level = decision.level;
  if (decision.level == Level::kVrf) {
    moved.layout = decision.layout;
    moved.dtype = AccumulatorOf(spec);
    // Registers hold the tile: the spec below only adds to it, whatever was asked for.
    child = WithoutEpilogue(child);
    child.accumulate = true;
    // What the tile's store and epilogue take from beyond L1 comes at this point.
    for (int operand = decision.operand; operand < spec.op_info().num_operands; ++operand)
      if (Operand(spec, operand).level > Level::kL1)
        AddTransfer(spec, operand, decision.level,
                    operand == decision.operand ? footprint : FootprintOf(spec, operand, target), target,
                    expansion);
  } else {
    AddTransfer(spec, decision.operand, decision.level, footprint, target, expansion);
    // How the lines arrive decides what they cost: in short pieces of rows, in rows that evict each other,
    // panel by panel, or in whole columns that are asked for ahead.
    Transfer& transfer = LastTransfer(expansion);
    transfer.by_tiles = decision.operand == MatmulDims::kRhs && decision.level <= Level::kL2 &&
                        transfer.from > Level::kL2 && RhsHasShortRuns(spec);
    transfer.rows_conflict = transfer.by_tiles && RowsConflict(spec, decision.operand, target);
    // Of panels that are closer than L3, microkernels read one after the other.
    transfer.one_by_one = Operand(spec, decision.operand).layout.kind == LayoutKind::kPacked;
    const bool ahead = AreColumnsPrefetched(spec, decision);
    if (ahead) AskForColumnsAhead(spec, target, &transfer);
    // What has been asked for so stays that, if it is moved once more.
    moved.resident = ahead || transfer.by_tiles ? kPrefetched : std::max(moved.resident, kResident);
    SettleRounding(&child);
    // The tile takes room in its cache from here on.
    expansion->filled = decision.level;
    expansion->filled_lines = ResidentLines(spec, decision.operand, footprint, target, decision.level);
  }
  AddChild(child, expansion);
}

namespace {

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

}  // namespace

// operand@X strided -> operand@Y packed, Y no slower than X and than the level being filled. Or from panels
// to wider ones.
void EnumeratePacks(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  if (spec.op_info().base == OpKind::kDepthwise) return;  // vectors of both inputs are contiguous
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
  }
  // Blocks of the output begin at any multiple of their width, so a panel must not reach over two of them.
  if (spec.block == 0) return;
  std::erase_if(*decisions, [&](const Decision& decision) {
    return decision.kind == RewriteKind::kPack && CutsPanels(spec, decision.operand, decision.layout);
  });
}

namespace {

// Appends the copy of a constant operand of blocks as it is, its rows following each other.
void AppendDenseBlocks(const Spec& spec, int operand, std::vector<Decision>* decisions) {
  const TensorSpec& tensor = Operand(spec, operand);
  Layout rows = CopyLayout(spec, operand, {tensor.dtype, 1, false}, 0);
  rows.kind = LayoutKind::kStrided;
  AppendPack(operand, tensor.level, tensor.dtype, rows, decisions);
}

}  // namespace

void EnumerateConstantPacks(const Spec& spec, int operand, const Target& target,
                            std::vector<Decision>* decisions) {
  const TensorSpec& tensor = Operand(spec, operand);
  AppendCopies(spec, operand, {tensor.level}, target, decisions);
  std::erase_if(*decisions,
                [&](const Decision& decision) { return CutsPanels(spec, operand, decision.layout); });
  if (IsOfBlocks(tensor.dtype)) return AppendDenseBlocks(spec, operand, decisions);
  // Plain rows, padded and dense. The padded ones may be among the copies already.
  const Layout padded = CopyLayout(spec, operand, {tensor.dtype, 1, false}, 0);
  const bool known = std::any_of(decisions->begin(), decisions->end(), [&](const Decision& decision) {
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
  expansion->transfers[0].a_tile_ahead = CopyAsksAhead(spec, decision, target);
  expansion->copied_elements = elements;
  expansion->copy_transposes = source.layout.order != decision.layout.order;
  expansion->filled = decision.level;
  const int64_t bytes = Bytes(decision.dtype, elements);
  expansion->filled_lines = (bytes + target.line_bytes - 1) / target.line_bytes;
  if (source.constant != 0)  // the copy is there instead of the operand
    expansion->filled_lines =
        std::max<int64_t>(0, expansion->filled_lines - expansion->transfers[0].read.lines);
  AddChild(child, expansion);
}

// Returns the arithmetic of a tile of this form: that of the packed rhs's groups; along the reduction, the
// best.
Arithmetic FormArithmetic(const Spec& spec, LayoutKind form, const Target& target) {
  const TensorSpec &lhs = Operand(spec, MatmulDims::kLhs), &rhs = Operand(spec, MatmulDims::kRhs);
  if (form == LayoutKind::kVectors && spec.ideal != kIdealInputs)
    return ArithmeticOf(lhs.dtype, rhs.dtype, rhs.layout.group, target);
  return BestArithmetic(spec, target);
}

// True if the tile fits the registers. An ideal tile fits if it does by either arithmetic: it bounds the
// programs of both.
bool FitsRegisters(const Spec& spec, RegisterTile tile, const VectorUnit& unit, const Target& target) {
  if (tile.form == LayoutKind::kTiles) return TileRegistersNeeded(tile) <= target.matrix->registers;
  if (int64_t{tile.rows} * tile.columns > unit.registers) return false;
  if (RegistersNeeded(tile, unit) <= unit.registers) return true;
  if (spec.ideal != kIdealInputs) return false;
  tile.arithmetic =
      ArithmeticOf(Operand(spec, MatmulDims::kLhs).dtype, Operand(spec, MatmulDims::kRhs).dtype, 1, target);
  return RegistersNeeded(tile, unit) <= unit.registers;
}

// Appends the register tiles of one form that have all of the spec's output, one per vector unit that suits.
void AppendRegisterTiles(const Spec& spec, LayoutKind form, Arithmetic arithmetic, const Target& target,
                         std::vector<Decision>* decisions) {
  for (const VectorUnit& unit : target.vectors) {
    if (form == LayoutKind::kTiles && unit.bytes != kTileRowBytes) continue;
    if (!OperandsSuit(spec, form, arithmetic, unit, target)) continue;
    Decision decision;
    decision.kind = RewriteKind::kMove;
    decision.operand = static_cast<uint8_t>(spec.op_info().output());
    decision.level = Level::kVrf;
    decision.layout.kind = form;
    decision.layout.panel = static_cast<uint8_t>(unit.lanes(Info(arithmetic).accumulator()));
    decision.layout.group = static_cast<uint8_t>(Info(arithmetic).group);
    const RegisterTile tile = RegisterTileOf(spec, decision.layout, target);
    if (!FitsRegisters(spec, tile, unit, target)) continue;
    decisions->push_back(decision);
    // Sets of sums have to be added in the end, which few steps do not pay for.
    if (form != LayoutKind::kVectors || CountedSets(tile, unit) == 1) continue;
    decision.layout.kind = LayoutKind::kChains;
    decisions->push_back(decision);
  }
}

// All forms of a register tile, in a fixed order. There are none while rhs in panels waits for an lhs of
// integers, or rhs has to go into panels first.
void EnumerateRegisterTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  if (spec.size[MatmulDims::kB] > 1) return;
  if (IsInPanels(Operand(spec, MatmulDims::kRhs).dtype) && !AreIntegers(spec)) return;
  if (IsMeantForPanels(spec)) return;
  if (spec.op_info().base == OpKind::kDepthwise)
    return AppendRegisterTiles(spec, LayoutKind::kLanewise,
                               PlainArithmetic(Operand(spec, MatmulDims::kLhs).dtype), target, decisions);
  if (const std::optional<Arithmetic> tiles = TilesOf(spec, target))
    AppendRegisterTiles(spec, LayoutKind::kTiles, *tiles, target, decisions);
  for (LayoutKind form : {LayoutKind::kVectors, LayoutKind::kPartialSums}) {
    const Arithmetic arithmetic = FormArithmetic(spec, form, target);
    AppendRegisterTiles(spec, form, arithmetic, target, decisions);
    // Of several rows, plain multiply-adds take fewer registers; of a step or two, also fewer instructions,
    // and what is ideal costs no more than any.
    if (form == LayoutKind::kPartialSums ? Info(arithmetic).parts() > 1
                                         : spec.ideal == kIdealInputs && Info(arithmetic).group > 1)
      AppendRegisterTiles(spec, form, PlainArithmetic(Operand(spec, MatmulDims::kLhs).dtype), target,
                          decisions);
  }
}

// A microkernel has no children. Its transfers are those operands that it reads from beyond L1.
void ExpandMicrokernel(const Spec& spec, const Decision& decision, const Target& target,
                       Expansion* expansion) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const TensorSpec& tensor = Operand(spec, operand);
    const bool by_tiles = operand == MatmulDims::kRhs && decision.size == 0 && PrefetchesNextTile(spec);
    if (tensor.level <= Level::kL1 && !by_tiles) continue;
    Footprint footprint = FootprintOf(spec, operand, target);
    const bool walks_rows = IsReduction(spec, InnerDim(spec, operand));
    // A line that is evicted before the walk along its row comes back to it is fetched once for each element.
    if (walks_rows && RowsEvictEachOther(spec, operand, target))
      footprint.lines = std::min(ExtentOf(spec, operand).elements(),
                                 footprint.lines * ElementsIn(tensor.dtype, target.line_bytes));
    AddTransfer(spec, operand, Level::kVrf, footprint, target, expansion);
    if (operand != MatmulDims::kRhs) continue;
    // A panel that is read whole goes on where the one before it ends: one after the other they are a single
    // stream. Of several side by side only the first does, the others begin where nobody has read or asked
    // for anything. (Pieces of panels that tiles of the reduction read are priced there.)
    if (tensor.layout.panel != 0) {
      LastTransfer(expansion).new_runs = footprint.runs - 1;
      LastTransfer(expansion).one_stream = footprint.runs == 1;
    }
    PrefetchRhs(spec, decision, target, &LastTransfer(expansion));
    LastTransfer(expansion).by_tiles = by_tiles;
    LastTransfer(expansion).rows_conflict = !walks_rows && RowsConflict(spec, operand, target);
  }
}

}  // namespace kirsch
