// SPDX-License-Identifier: Apache-2.0
// Writes copies of operands as parts of a program: of a whole operand, block by block, of a size known only
// at run time, and of windows.
#include <algorithm>
#include <utility>

#include "spec/check.h"
#include "spec/footprint.h"
#include "spec/program/impl_operands.h"
#include "spec/program/impl_program.h"
#include "spec/program/program_memory.h"

namespace kirsch {
namespace {

// A copy of blocks that keep their form. It becomes a copy of bytes, so kernels need no case for each type of
// blocks.
PackShape CopyOfBytes(PackShape pack) {
  pack.inner = Bytes(pack.from.dtype, pack.inner);
  for (MatrixLayout* layout : {&pack.from, &pack.to}) {
    layout->outer_stride = Bytes(layout->dtype, layout->outer_stride);
    layout->dtype = Dtype::kU8;
  }
  return pack;
}

// Calls body(from, to) for each run of the axis's innermost digit. Along that digit elements are at one
// distance, so one kernel can copy a run. Index i lies at copied(i) in the copy.
template <typename Copied, typename Write>
void ForRuns(ProgramBuilder& builder, const DigitAxis& axis, int64_t size, const Copied& copied,
             const OperandPlace& from, const OperandPlace& to, const Write& body, int level = kMaxDigits) {
  level = std::min(level, axis.digits) - 1;
  if (level == 0) return body(from, to);
  const int64_t end = level + 1 < axis.digits ? axis.unit(level + 1) : size;
  builder.AddLoop(Whole(end / axis.unit(level)), [&](VarId index) {
    OperandPlace next_from = from, next_to = to;
    next_from.offset = Plus(next_from.offset, index, axis.stride(level));
    next_to.offset = Plus(next_to.offset, index, copied(axis.unit(level)));
    ForRuns(builder, axis, size, copied, next_from, next_to, body, level);
  });
}

}  // namespace

void ImplWriter::WriteCopy(const Impl& impl, const OperandPlace& from, const OperandPlace& to) {
  const PackShape copy = CopyOf(impl, StoredLayout(impl.spec, impl.decision.operand));
  // Only copies that leave blocks as they are need their places in bytes.
  if (!IsOfBlocks(copy.to.dtype) || copy.to.dtype != copy.from.dtype)
    return builder_.AddRun(copy, {from, to});
  const auto in_bytes = [&](const OperandPlace& place) -> OperandPlace {
    return {place.buffer, InBytes(copy.to.dtype, place.offset)};
  };
  builder_.AddRun(CopyOfBytes(copy), {in_bytes(from), in_bytes(to)});
}

MatrixLayout ImplWriter::PackedLayout(const TileExtent& extent, const Layout& layout, Dtype dtype) const {
  // Without panels only the leading dimension is chosen (CopyLd).
  if (layout.panel == 0) return {layout.order, CopyLd(extent, layout, dtype, target_), 0, 0, 1, dtype};
  // Panels follow each other; in each one the groups of steps do, the last one filled up.
  const int64_t group = GroupOf(layout, dtype), groups = (extent.outer + group - 1) / group;
  const int64_t group_stride = layout.panel * group;
  return {layout.order, group_stride, layout.panel, groups * group_stride, group, dtype};
}

PackShape ImplWriter::CopyOf(const Impl& impl, const MatrixLayout& from) const {
  const int operand = impl.decision.operand;
  const Spec& child = OnlyChild(impl).spec;
  const TileExtent extent = ExtentOf(child, operand);
  const TensorSpec& copy = Operand(child, operand);
  KIRSCH_CHECK(copy.dtype == impl.decision.dtype);
  PackShape pack = {extent.outer, extent.inner, from, PackedLayout(extent, copy.layout, copy.dtype)};
  // Far means behind L2. A copy that turns its operand reads more rows side by side than the processor
  // follows by itself, so it prefetches (codegen/kernels/copy_prefetch.h).
  pack.from_far =
      Operand(impl.spec, operand).level > Level::kL2 && from.window.empty() && from.order != pack.to.order;
  return pack;
}

int64_t ImplWriter::CopyElements(const Impl& impl) const {
  const int operand = impl.decision.operand;
  const Spec& child = OnlyChild(impl).spec;
  const TensorSpec& copy = Operand(child, operand);
  return PackedElements(ExtentOf(child, operand), copy.layout, copy.dtype, target_);
}

// The bytes of the copy's buffer. A prepacked copy of rows that are not a whole number of vectors apart has
// room for one more vector, because the last row's write may go beyond its end.
int64_t ImplWriter::CopyBytes(const Impl& impl) const {
  const int operand = impl.decision.operand;
  const Spec& child = OnlyChild(impl).spec;
  const TensorSpec& copy = Operand(child, operand);
  const TileExtent extent = ExtentOf(child, operand);
  const int64_t bytes = Bytes(copy.dtype, CopyElements(impl));
  if (ConstantOperand(impl.spec) < 0) return bytes;
  const MatrixLayout to = PackedLayout(extent, copy.layout, copy.dtype);
  const int vector_bytes = target_.vectors.front().bytes;
  const bool beyond = to.panel == 0 && Bytes(to.dtype, to.outer_stride) % vector_bytes != 0;
  return bytes + (beyond ? vector_bytes : 0);
}

// Writes the copy, then everything below it, which reads the copy instead of the operand.
void ImplWriter::WritePack(const Impl& impl, const OperandViews& views) {
  const size_t operand = impl.decision.operand;
  const Impl& child = OnlyChild(impl);
  KIRSCH_CHECK(ExtentOf(child.spec, static_cast<int>(operand)).batch == 1);
  const PackShape pack = CopyOf(impl, views[operand].layout);
  OperandViews inside = views;
  const Layout& layout = child.spec.operand[operand].layout;
  inside[operand] = {{}, 0, pack.to, layout.kind == LayoutKind::kPacked};
  const bool any_size = std::ranges::any_of(sizes_, [](const DimSize& size) { return size.all != kNoVar; });
  // A copy in common is made in a phase of its own (only_common_); at all other times it is only read.
  const bool common = !any_size && IsCommonCopy(impl);
  if (common) {
    inside[operand].start = CommonPlace(impl, pack.to.dtype);
    if (only_common_) WriteCommonCopy(impl.spec, pack, views[operand].start, inside[operand].start);
  }
  if (common || only_common_) return WriteNode(child, inside);
  // Any other copy has memory of this thread's own while its child runs.
  const int64_t bytes = WholeLines(CopyBytes(impl));
  inside[operand].start = {TakeOwn(bytes, pack.to.dtype), {}};
  const OperandPlace &from = views[operand].start, &to = inside[operand].start;
  // The form of the copy depends on the operand: parts of blocks, a window, a reduction or a dim whose size
  // is known only at run time, or nothing special.
  if (HasPartOfEachBlock(impl.spec, impl.decision.operand)) {
    WriteBlocksPack(impl, pack, views[operand], inside[operand]);
  } else if (IsWindow(impl.spec, impl.decision.operand)) {
    WriteWindowCopy(impl.spec, pack, from, to);
  } else if (Varies(MatmulDims::kK)) {
    PackShape any = pack;  // so that those of whole tiles are the same one as that of what is left
    Size& extent = OuterDim(child.spec, static_cast<int>(operand)) == MatmulDims::kK ? any.outer : any.inner;
    extent = {SizeSymbol::kCount, extent};
    builder_.AddRun(any, {from, to}, LengthOf(impl));
  } else if (const std::optional<size_t> dim = SymbolicDimOf(impl, operand)) {
    KIRSCH_CHECK(
        CopyMayVary(impl.spec, child.spec, static_cast<int>(operand), static_cast<int>(*dim), target_));
    if (pack.to.panel == 0)
      WriteRowsPack(impl, pack, views[operand], inside[operand]);
    else
      WritePanelsPack(impl, pack, views[operand], inside[operand]);
  } else {
    builder_.AddRun(pack, {from, to});
  }
  AskForNext(impl, views[operand], [&] { WriteNode(child, inside); });
  FreeOwn(bytes);
}

// Calls body(number, columns) for each block, as a task of its own. `columns` is how many columns (or rows)
// of the output the block has; the last one may have fewer.
template <typename WriteBlock>
void ImplWriter::ForBlocks(const Spec& spec, const WriteBlock& body) {
  const int64_t size = spec.size[static_cast<size_t>(BlockDim(spec))], block = spec.block;
  const auto task = [&](const Affine& number, int64_t columns) {
    builder_.AddTask(Plus(first_block_, number), [&] { body(number, columns); });
  };
  if (size >= block)
    builder_.AddLoop(Whole(size / block), [&](VarId number) { task(IndexOf(number), block); });
  if (size % block != 0) task(Constant(size / block), size % block);
}

// Writes the copy of an operand of which each block reads its own part. Where blocks are parts of the copy's
// rows, the copy takes a few rows of all blocks at a time. A range of blocks is then read in long runs,
// instead of one block's short rows after the other's.
void ImplWriter::WriteBlocksPack(const Impl& impl, const PackShape& whole, const OperandView& from,
                                 const OperandView& to) {
  constexpr int64_t kGroupsAtATime = 8;  // of rows
  const Spec& spec = impl.spec;
  const int operand = impl.decision.operand, block_dim = BlockDim(spec);
  const bool of_rows = InnerDim(OnlyChild(impl).spec, operand) == block_dim;
  const bool straight = of_rows && whole.from.order == whole.to.order;
  const int64_t rows =
      straight ? std::min<int64_t>(whole.outer, kGroupsAtATime * whole.to.group) : whole.outer.most();
  const int64_t from_block = StrideAlong(spec, operand, block_dim, from, spec.block);
  const int64_t to_block = of_rows ? whole.to.InnerOffset(spec.block) : whole.to.OuterOffset(spec.block);
  const auto copy = [&](const Affine& row, int64_t count) {
    ForBlocks(spec, [&](const Affine& block, int64_t columns) {
      PackShape part = whole;
      (of_rows ? part.inner : part.outer) = columns;
      part.exact = of_rows && whole.to.panel == 0;  // what is behind it is another thread's, or nobody's
      if (straight) part.outer = count;
      OperandPlace a = from.start, b = to.start;
      a.offset = Plus(a.offset, Plus(Times(row, whole.from.OuterOffset(rows)), Times(block, from_block)));
      b.offset = Plus(b.offset, Plus(Times(row, whole.to.OuterOffset(rows)), Times(block, to_block)));
      builder_.AddRun(part, {a, b});
    });
  };
  // All rows are one piece, or there are several pieces and what is left of the rows.
  if (rows == whole.outer) return copy(Constant(0), rows);
  builder_.AddLoop(
      {Constant(whole.outer), rows}, [&](VarId number) { copy(IndexOf(number), rows); },
      [&](VarId number) {
        if (whole.outer % rows != 0) copy(IndexOf(number), whole.outer % rows);
      });
}

// The place of a copy in common. It has one place for each turn of the loops outside of it, since all turns'
// copies exist before the blocks begin. The first call for `impl` adds the buffer.
OperandPlace ImplWriter::CommonPlace(const Impl& impl, Dtype dtype) {
  const int64_t unit = Bytes(dtype), units = (WholeLines(CopyBytes(impl)) + unit - 1) / unit;
  const auto [known, inserted] = common_.try_emplace(&impl, -1);
  if (inserted)
    known->second =
        builder_.AddBuffer({"copy", dtype, Memory::kShared, true, false, units * unit * turns_, 0});
  return {known->second, Times(turn_, units * BlockOf(dtype))};
}

// Writes a copy in common as tasks: at most as many parts as there are blocks. Part p belongs to the thread
// that block p * blocks_to_part belongs to, so threads share the copy as they share the blocks.
void ImplWriter::WriteCommonCopy(const Spec& spec, const PackShape& whole, const OperandPlace& from,
                                 const OperandPlace& to) {
  constexpr int64_t kLeastGroups = 4;  // of rows of the copy, in a part
  const int64_t blocks = BlockCount(spec), grain = kLeastGroups * whole.to.group;
  const int64_t rows = ((whole.outer + blocks - 1) / blocks + grain - 1) / grain * grain;
  const int64_t parts = (whole.outer + rows - 1) / rows, blocks_to_part = blocks / parts;
  const bool straight = whole.from.order == whole.to.order;
  const int64_t from_part = straight ? whole.from.OuterOffset(rows) : whole.from.InnerOffset(rows);
  const auto copy = [&](const Affine& part, int64_t count) {
    PackShape pack = whole;
    pack.outer = count;
    OperandPlace a = from, b = to;
    a.offset = Plus(a.offset, Times(part, from_part));
    b.offset = Plus(b.offset, Times(part, whole.to.OuterOffset(rows)));
    builder_.AddTask(Times(part, blocks_to_part), [&] { builder_.AddRun(pack, {a, b}); });
  };
  builder_.AddLoop(
      {Constant(whole.outer), rows}, [&](VarId part) { copy(IndexOf(part), rows); },
      [&](VarId part) {
        if (whole.outer % rows != 0) copy(IndexOf(part), whole.outer % rows);
      });
}

// Writes the copy of a number of rows known only at run time: a few rows at a time, then what is left row by
// row. So two kernels serve any number.
void ImplWriter::WriteRowsPack(const Impl& impl, const PackShape& most, const OperandView& from,
                               const OperandView& to) {
  constexpr int64_t kRowsAtATime = 4;  // that the procedure for many takes side by side
  using Offsets = std::pair<Affine, Affine>;
  const size_t dim = *SymbolicDimOf(impl, impl.decision.operand);
  const Affine all = IndexOf(sizes_[dim].left);
  const auto behind = [&](const Offsets& at, VarId number, int64_t rows) -> Offsets {
    return {Behind(at.first, from, impl.spec, impl.decision.operand, static_cast<int>(dim), rows, number),
            Plus(at.second, number, to.layout.OuterOffset(rows))};
  };
  const auto copy = [&](const Offsets& at, int64_t rows) {
    PackShape pack = most;
    pack.outer = rows;
    builder_.AddRun(pack, {{from.start.buffer, at.first}, {to.start.buffer, at.second}});
  };
  const Offsets start = {from.start.offset, to.start.offset};
  builder_.AddLoop(
      {all, kRowsAtATime}, [&](VarId number) { copy(behind(start, number, kRowsAtATime), kRowsAtATime); },
      [&](VarId number) {
        builder_.AddLet({all, kRowsAtATime, true}, [&](VarId left) {
          const Offsets rest = behind(start, number, kRowsAtATime);
          builder_.AddLoop({IndexOf(left)}, [&](VarId row) { copy(behind(rest, row, 1), 1); });
        });
      });
}

// Writes the copy of a number of columns known only at run time: panel by panel. The last panel may be
// partial; the program then chooses among kernels for each number of vectors.
void ImplWriter::WritePanelsPack(const Impl& impl, const PackShape& most, const OperandView& from,
                                 const OperandView& to) {
  const size_t dim = *SymbolicDimOf(impl, impl.decision.operand);
  const Affine all = IndexOf(sizes_[dim].left);
  const int64_t panel = most.to.panel;
  const bool straight = most.from.order == most.to.order;
  const int64_t unit = straight ? PanelVector(panel, target_.vectors.front().bytes, most.to.dtype) : 1;
  const auto copy = [&](VarId number, int64_t columns, const Affine& last) {
    PackShape pack = most;
    pack.inner = last == Affine{} ? Size(columns) : Size(SizeSymbol::kLast, columns, 1, columns - unit);
    const Affine at = Behind(from.start.offset, from, impl.spec, impl.decision.operand, static_cast<int>(dim),
                             panel, number);
    builder_.AddRun(pack,
                    {{from.start.buffer, at},
                     {to.start.buffer, Plus(to.start.offset, number, to.layout.InnerOffset(panel))}},
                    Whole(1), last);
  };
  const int64_t most_left = std::min<int64_t>(panel - 1, most.inner);
  builder_.AddLoop(
      {all, panel}, [&](VarId number) { copy(number, panel, {}); },
      [&](VarId number) {
        builder_.AddLet({all, panel, true}, [&](VarId left) {
          WithLeft(dim, left, [&] {
            ForSizes(dim, unit, 1, most_left,
                     [&](int64_t, int64_t size, const Affine& last) { copy(number, size, last); });
          });
        });
      });
}

// Writes the copy of a window run by run, as a kernel can step by one distance only along each axis.
void ImplWriter::WriteWindowCopy(const Spec& spec, const PackShape& whole, const OperandPlace& from,
                                 const OperandPlace& to) {
  const auto& [rows, columns] = spec.op_info().window.axes;
  const auto run = [](const DigitAxis& axis, int64_t size) {
    return axis.digits == 1 ? size : int64_t{axis.digit[0].count};
  };
  PackShape pack = whole;
  pack.outer = run(rows, whole.outer);
  pack.inner = run(columns, whole.inner);
  pack.from = {Order::kRow, rows.stride(0), 0, 0, 1, whole.from.dtype};
  pack.inner_stride = columns.stride(0);
  // Where a row of the copy is made of several runs, a run must not write beyond its own end, where another
  // one is.
  pack.exact = columns.digits > 1 && (whole.to.panel == 0 || pack.inner % whole.to.panel != 0);
  if (pack.exact) pack.to = {Order::kRow, whole.to.outer_stride, 0, 0, 1, whole.to.dtype};
  const auto along_columns = [&](const OperandPlace& run_from, const OperandPlace& run_to) {
    ForRuns(
        builder_, columns, whole.inner, [&](int64_t index) { return whole.to.InnerOffset(index); }, run_from,
        run_to, [&](const OperandPlace& a, const OperandPlace& b) { builder_.AddRun(pack, {a, b}); });
  };
  ForRuns(
      builder_, rows, whole.outer, [&](int64_t index) { return whole.to.OuterOffset(index); }, from, to,
      along_columns);
}

}  // namespace kirsch
