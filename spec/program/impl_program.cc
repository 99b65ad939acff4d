// SPDX-License-Identifier: Apache-2.0
#include "spec/program/impl_program.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "spec/check.h"
#include "spec/interleaving.h"
#include "spec/microkernel.h"
#include "spec/program/impl_operands.h"
#include "spec/program/program_memory.h"
#include "spec/storage.h"

namespace kirsch {
namespace {

bool HasSymbolicStrideAlong(const Spec& spec, int operand, int dim, const OperandView& view) {
  return !view.layout.outer_stride.IsConstant() && dim == OuterDim(spec, operand);
}

// Checks that a tile differs from the spec along `dim` only.
void CheckTile(const Spec& spec, const Spec& tile, size_t dim) {
  KIRSCH_CHECK(tile.size[dim] > 0);
  for (size_t other = 0; other < spec.size.size(); ++other)
    KIRSCH_CHECK(other == dim || tile.size[other] == spec.size[other]);
}

// Checks that the operands lie as the spec says. The order of a single row or column means nothing, so it is
// not compared.
void CheckViews(const Spec& spec, const OperandViews& views) {
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    const TensorSpec& tensor = Operand(spec, operand);
    const OperandView& view = views[static_cast<size_t>(operand)];
    const TileExtent extent = ExtentOf(spec, operand);
    KIRSCH_CHECK(tensor.dtype == view.layout.dtype);
    KIRSCH_CHECK((tensor.layout.kind == LayoutKind::kPacked) == view.packed);
    KIRSCH_CHECK(!view.packed || tensor.layout.panel == view.layout.panel);
    KIRSCH_CHECK(GroupOf(tensor.layout, tensor.dtype) == view.layout.group);
    KIRSCH_CHECK(!view.layout.window.empty() || tensor.layout.order == view.layout.order ||
                 extent.outer == 1 || extent.inner == 1);
  }
}

// The tile as code knows it. If registers leave room for one set of sums only, `one_set` asks for nothing
// that would not be so anyway. It is then cleared, so that equal code has one kernel.
RegisterTile EmittedTile(RegisterTile tile, const Target& target) {
  RegisterTile split = tile;
  split.one_set = false;
  return tile.one_set && KSplit(split, UnitOf(target, tile)) == 1 ? split : tile;
}

// The lanes of register tiles of some columns, which may be divided into rows: found at the first node below
// the tiles.
int64_t LanesOfTiles(const Impl& tiles) {
  const Impl* node = &tiles;
  while (node->decision.kind == RewriteKind::kTile) node = &node->children.front().impl;
  return node->decision.layout.panel;
}

// Checks the layouts that instructions on groups need: rhs is in groups of that many steps, or in rows that
// loads put together; and lhs, if the instruction reads it in groups, too, is contiguous along the reduction.
void CheckGroups(const Spec& spec, const Layout& registers, const Target& target) {
  if (!IsOfVectors(registers.kind)) return;
  const TensorSpec &lhs = spec.operand[MatmulDims::kLhs], &rhs = spec.operand[MatmulDims::kRhs];
  const Arithmetic arithmetic = registers.kind == LayoutKind::kTiles
                                    ? TileArithmetic(lhs.dtype, rhs.dtype, target).value()
                                    : ArithmeticOf(lhs.dtype, rhs.dtype, registers.group, target);
  KIRSCH_CHECK(rhs.layout.group == registers.group || MayInterleave(spec, arithmetic));
  KIRSCH_CHECK(!Info(arithmetic).groups_lhs() || InnerDim(spec, MatmulDims::kLhs) == MatmulDims::kK);
}

// Adds the operands of a root as the caller's buffers, with the same numbers.
void AddOperands(const Spec& spec, ProgramBuilder& builder) {
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    builder.AddBuffer({std::string(spec.op_info().operands[static_cast<size_t>(operand)].name),
                       Operand(spec, operand).dtype, Memory::kCaller, operand == spec.op_info().output(),
                       Operand(spec, operand).constant != 0,
                       Bytes(Operand(spec, operand).dtype, RootElements(spec, operand)), 0});
}

// Writes the copy of the constant operand as the program's prepack, for a batch matrix by matrix. Returns the
// view that the kernel has of the copy.
OperandView Prepack(const Impl& impl, const OperandView& operand, ImplWriter& writer,
                    ProgramBuilder& builder) {
  KIRSCH_CHECK(impl.decision.kind == RewriteKind::kPack);
  const PackShape pack = writer.CopyOf(impl, operand.layout);
  const int packed = builder.AddBuffer(
      {"packed", pack.to.dtype, Memory::kPacked, true, false, WholeLines(writer.CopyBytes(impl)), 0});
  const int64_t batch = ExtentOf(impl.spec, impl.decision.operand).batch;
  const int64_t stride = writer.CopyElements(impl) / batch;
  const auto copy = [&](const Affine& from, const Affine& to) {
    writer.WriteCopy(impl, {operand.start.buffer, from}, {packed, to});
  };
  builder.Prepack([&] {
    if (batch == 1) return copy(operand.start.offset, {});
    builder.AddLoop(Whole(batch), [&](VarId matrix) {
      copy(Plus(operand.start.offset, matrix, operand.batch_stride), Plus({}, matrix, stride));
    });
  });
  const Layout& layout = Operand(OnlyChild(impl).spec, impl.decision.operand).layout;
  return {{packed, {}}, stride, pack.to, layout.kind == LayoutKind::kPacked};
}

}  // namespace

Program WriteProgram(const Impl& impl, const Target& target) {
  ProgramBuilder builder;
  ImplWriter writer(target, builder);
  // Operands first: their buffers have the same numbers as they.
  AddOperands(impl.spec, builder);
  OperandViews views;
  for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand)
    views[static_cast<size_t>(operand)] = writer.ViewAt(impl.spec, operand, {operand, {}});
  // A constant operand's copy is made ahead; the rest of the tree reads it and knows nothing of the original.
  const bool packed_ahead = ConstantOperand(impl.spec) >= 0;
  if (packed_ahead)
    views[impl.decision.operand] = Prepack(impl, views[impl.decision.operand], writer, builder);
  const Impl& kernel = packed_ahead ? OnlyChild(impl) : impl;
  // Sizes that vary become variables of the program, and the views' strides follow them.
  Program& program = builder.program();
  for (const size_t dim : SymbolicDims(kernel)) {
    const VarId size = program.variables++;
    program.symbols.push_back(
        {std::string(kernel.spec.op_info().dims[dim].name), kernel.range.least[dim], kernel.spec.size[dim]});
    writer.SetSize(size, dim);
  }
  for (int operand = 0; operand < kernel.spec.op_info().num_operands; ++operand) {
    Size& stride = views[static_cast<size_t>(operand)].layout.outer_stride;
    if (kernel.range.HasSymbolicStride(operand)) stride = {SizeSymbol::kStride, stride};
  }
  program.arguments = kernel.spec.op_info().epilogue.operands();
  program.block = kernel.spec.block;
  program.tasks = TaskCount(kernel);
  // Copies in common need a phase before the one that reads them.
  const auto write = [&] { writer.WriteShared(kernel, views, Constant(0)); };
  if (!HasCommonCopies(kernel)) {
    write();
  } else {
    program.phases = 2;
    builder.AddPhase(0, [&] { writer.WriteCommonCopies(kernel, views); });
    builder.AddPhase(1, write);
  }
  PlaceBuffers(&program);
  return std::move(builder).Build();
}

std::vector<size_t> SymbolicDims(const Impl& impl) {
  std::vector<size_t> dims;
  for (size_t dim = 0; dim < impl.range.least.size(); ++dim) {
    // A size that is a symbolic stride goes first, since kernels take the first size only.
    if (!impl.range.varies(dim)) continue;
    bool strides = false;
    for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand)
      strides |=
          impl.range.HasSymbolicStride(operand) && InnerDim(impl.spec, operand) == static_cast<int>(dim);
    dims.insert(strides ? dims.begin() : dims.end(), dim);
  }
  return dims;
}

bool CopyMayVary(const Spec& from, const Spec& copied, int operand, int dim, const Target& target) {
  const TensorSpec &source = from.tensor(operand), &copy = copied.tensor(operand);
  // Along the reduction, blocks have no part. Any other copy may have fewer rows; it may have shorter rows
  // only if it keeps the order and has no panels.
  if (dim == MatmulDims::kK) {
    if (IsOfBlocks(source.dtype) || IsOfBlocks(copy.dtype)) return false;
    if (dim == OuterDim(copied, operand)) return true;
    return copy.layout.panel == 0 && source.layout.order == copy.layout.order;
  }
  // Along the other dim, a row-major copy may have fewer rows. Only rhs may have fewer columns in panels.
  if (dim == OuterDim(copied, operand)) return copy.layout.panel == 0 && copy.layout.order == Order::kRow;
  if (operand != MatmulDims::kRhs || copy.layout.panel == 0 || IsInPanels(copy.dtype)) return false;
  return source.layout.order != copy.layout.order || LanesMayVary(source.dtype, target);
}

// Dot products (and chains) read vectors along the reduction, so their last vector of each operand may be
// partial: the target must have masked loads for that. Register tiles of vectors go step by step, so any
// length suits them.
bool LengthMayVary(const Spec& spec, const Layout& registers, const Target& target) {
  const Dtype lhs = spec.operand[MatmulDims::kLhs].dtype, rhs = spec.operand[MatmulDims::kRhs].dtype;
  if (IsOfBlocks(lhs) || IsOfBlocks(rhs) || registers.kind == LayoutKind::kLanewise) return false;
  if (IsOfVectors(registers.kind)) return true;
  return Info(ArithmeticOf(lhs, rhs, registers.group, target)).parts() == 1 && LanesMayVary(lhs, target) &&
         LanesMayVary(rhs, target);
}

int64_t TaskCount(const Impl& impl) {
  // With blocks, each of them is a task.
  if (impl.spec.block != 0) return BlockCount(impl.spec);
  int64_t parallel = 0, tasks = 0;
  for (const Impl::Child& child : impl.children) {
    const int64_t inside = TaskCount(child.impl);
    parallel = std::max(parallel, inside);
    tasks += child.trips * inside;
  }
  // A node that is no parallel tile has tasks only if some child shares its work.
  const bool shared = impl.decision.kind == RewriteKind::kParallelTile;
  return shared || parallel > 1 ? tasks : 1;
}

bool HasCommonCopies(const Impl& impl) {
  // Within a tree for a range of sizes, parts are for so many rows.
  if (impl.spec.block == 0 || impl.range.varies()) return false;
  return IsCommonCopy(impl) || std::ranges::any_of(impl.children, [](const Impl::Child& child) {
           return HasCommonCopies(child.impl);
         });
}

// The tiles of one child of a tile node, with whatever is the same for all of them.
struct ImplWriter::Tiles {
  const Impl& impl;
  const Impl::Child& child;
  DigitAxis axis;  // how a window is indexed by the dim that is tiled
  int64_t tasks;   // in each tile
  bool go_on;      // other tiles come behind them

  int64_t size() const { return child.impl.spec.size[impl.decision.dim]; }
  // True if the digits say where the operand's tiles are.
  bool IsIndexed(int operand) const {
    return IsWindow(impl.spec, operand) && WindowAxis(impl.spec, impl.decision.dim) != nullptr;
  }
};

// Where a tile is: `position` steps along the tiled dim behind the place that `views` and `task` stand for.
// The two include only the loops outside.
struct ImplWriter::TilePlace {
  OperandViews views;
  std::optional<Affine> task;
  int64_t position;
};

OperandView ImplWriter::ViewAt(const Spec& spec, int operand, const OperandPlace& start) const {
  const Layout& layout = Operand(spec, operand).layout;
  const TileExtent extent = ExtentOf(spec, operand);
  if (layout.kind == LayoutKind::kPacked)
    return {start, 0, PackedLayout(extent, layout, Operand(spec, operand).dtype), true};
  return {start, extent.outer * layout.ld, StoredLayout(spec, operand)};
}

int ImplWriter::TakeOwn(int64_t bytes, Dtype dtype) {
  own_top_ += bytes;
  return builder_.AddBuffer({"copy", dtype, Memory::kOwn, true, false, bytes, own_top_ - bytes, true});
}

// Handles, in this order: programs without threads, programs in blocks, trees that one thread does alone, and
// parallel tiles.
void ImplWriter::WriteShared(const Impl& impl, const OperandViews& views, const Affine& first) {
  if (!builder_.program().SharesWork()) return WriteNode(impl, views);
  if (impl.spec.block != 0) {
    first_block_ = first;
    return WriteNode(impl, views);
  }
  if (TaskCount(impl) == 1) return builder_.AddTask(first, [&] { WriteNode(impl, views); });
  WriteTiles(impl, views, first);
}

// Dispatches on the decision. Moves to caches write nothing: they only say where data will be.
void ImplWriter::WriteNode(const Impl& impl, const OperandViews& views) {
  CheckViews(impl.spec, views);
  switch (impl.decision.kind) {
    case RewriteKind::kTile:
      // Blocks are the tiles whose tasks are numbered from first_block_ on. Copies in common are outside of
      // them.
      if (impl.spec.block != 0 && impl.decision.dim == BlockDim(impl.spec))
        return only_common_ ? void() : WriteTiles(impl, views, first_block_);
      if (impl.range.varies(impl.decision.dim)) return WriteSymbolicTiles(impl, views);
      return WriteTiles(impl, views, std::nullopt);
    case RewriteKind::kParallelTile:
      return WriteTiles(impl, views, std::nullopt);
    case RewriteKind::kMove:
      if (impl.decision.level == Level::kVrf &&
          (impl.range.varies(MatmulDims::kM) || impl.range.varies(MatmulDims::kN)))
        return WriteRegisterTiles(impl, views);
      if (impl.decision.level == Level::kVrf) return WriteRegisterTile(impl, views);
      return AskForNext(impl, views[impl.decision.operand], [&] { WriteNode(OnlyChild(impl), views); });
    case RewriteKind::kPack:
      return WritePack(impl, views);
    case RewriteKind::kMicrokernel:
    case RewriteKind::kNone:
      break;
  }
  KIRSCH_BUG("a program tree that is not complete");
}

// Writes tiles in order. `task` is the number of the first task; it is nothing below tasks, and in code that
// threads do not share.
void ImplWriter::WriteTiles(const Impl& impl, const OperandViews& views, const std::optional<Affine>& task) {
  const DigitAxis* const axis = WindowAxis(impl.spec, impl.decision.dim);
  const std::optional<AskedTile> asked = asked_;
  int64_t position = 0, tasks = 0;
  for (const Impl::Child& child : impl.children) {
    CheckTile(impl.spec, child.impl.spec, impl.decision.dim);
    Tiles tiles{impl, child, DigitAxis::Strided(1), task ? TaskCount(child.impl) : 0,
                &child != &impl.children.back()};
    if (axis != nullptr) tiles.axis = *axis;
    // The children's tasks follow each other.
    const std::optional<Affine> first = task ? std::optional(Plus(*task, tasks)) : std::nullopt;
    WriteRuns(tiles, tiles.axis.digits - 1, {views, first, position}, child.trips);
    position += child.trips * tiles.size();
    tasks += child.trips * tiles.tasks;
    asked_.reset();  // the first tiles have asked for everything
  }
  asked_ = asked;
  KIRSCH_CHECK(position == impl.spec.size[impl.decision.dim]);
}

// Writes `trips` tiles of a window within one run of digit `level`. The distance between tiles changes at the
// ends of runs, so there are three parts: tiles that end the run that has begun, whole runs, and tiles that
// begin the last run.
//
// Example: runs of 8 indices, tiles of 2, position 6, 10 trips: 1 tile, then 2 runs of 4 tiles, then 1 tile.
void ImplWriter::WriteRuns(const Tiles& tiles, int level, TilePlace place, int64_t trips) {
  const int64_t size = tiles.size(), unit = tiles.axis.unit(level);
  // All tiles are at one distance if each has whole units of this digit.
  if (size % unit == 0)
    return Repeat(tiles, level, place, trips, size, [&](const TilePlace& at) { WriteTile(tiles, at); });
  KIRSCH_CHECK(unit % size == 0);
  const int64_t per_run = unit / size;
  const auto pass = [&](int64_t passed) {
    place.position += passed * size;
    if (place.task) place.task->constant += passed * tiles.tasks;
    trips -= passed;
  };
  if (place.position % unit != 0) {
    const int64_t head = std::min(trips, (unit - place.position % unit) / size);
    WriteRuns(tiles, level - 1, place, head);
    pass(head);
  }
  Repeat(tiles, level, place, trips / per_run, unit,
         [&](const TilePlace& at) { WriteRuns(tiles, level - 1, at, per_run); });
  pass(trips / per_run * per_run);
  if (trips > 0) WriteRuns(tiles, level - 1, place, trips);
}

// Calls `body` for `count` places, each `step` after the one before, which is a step of digit `level`.
// Several places become a loop.
template <typename WriteBody>
void ImplWriter::Repeat(const Tiles& tiles, int level, const TilePlace& place, int64_t count, int64_t step,
                        const WriteBody& body) {
  if (count == 0) return;
  around_.push_back(TurnOf(tiles.impl, place.views, place.position, step));
  around_.back().known = !place.task;
  // The loops over a window's digits are not told apart: each is taken to go on.
  around_.back().goes_on = tiles.go_on || WindowAxis(tiles.impl.spec, tiles.impl.decision.dim) != nullptr;
  if (count == 1) {
    body(place);
    return around_.pop_back();
  }
  const Affine turn = turn_;
  turns_ *= count;
  around_.back().trips = count;
  const std::optional<AskedTile> asked = asked_;
  if (asked_) asked_->trips *= count;
  builder_.AddLoop(Whole(count), [&](VarId index) {
    // Turns count through all loops outside, the innermost fastest.
    turn_ = Plus(Times(turn, count), index, 1);
    around_.back().variable = index;
    if (asked_) asked_->trip = Plus(Times(asked_->trip, count), index, 1);
    TilePlace at = place;
    if (at.task) *at.task = Plus(*at.task, index, step / tiles.size() * tiles.tasks);
    for (int operand = 0; operand < tiles.impl.spec.op_info().num_operands; ++operand) {
      // A window moves by its digits, any other operand by its stride.
      OperandView& view = at.views[static_cast<size_t>(operand)];
      if (tiles.IsIndexed(operand))
        view.start.offset =
            Plus(view.start.offset, index, step / tiles.axis.unit(level) * tiles.axis.stride(level));
      else
        view.start.offset =
            Behind(view.start.offset, view, tiles.impl.spec, operand, tiles.impl.decision.dim, step, index);
    }
    body(at);
  });
  around_.pop_back();
  asked_ = asked;
  turn_ = turn;
  turns_ /= count;
}

// Moves the views to the tile. A window's tile has a narrower window of its own.
void ImplWriter::WriteTile(const Tiles& tiles, const TilePlace& place) {
  const Spec &spec = tiles.impl.spec, &tile = tiles.child.impl.spec;
  OperandViews views = place.views;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    OperandView& view = views[static_cast<size_t>(operand)];
    view.start.offset = tiles.IsIndexed(operand) ? Plus(view.start.offset, tiles.axis.At(place.position))
                                                 : Behind(view.start.offset, view, spec, operand,
                                                          tiles.impl.decision.dim, place.position, kNoVar);
    if (IsWindow(spec, operand)) view.layout = StoredLayout(tile, operand);
  }
  if (place.task) return WriteShared(tiles.child.impl, views, *place.task);
  WriteNode(tiles.child.impl, views);
}

// The offset behind `tiles` tiles of `size` along `dim`, where `tiles` is a variable; behind one such tile,
// if it is kNoVar.
Affine ImplWriter::Behind(const Affine& offset, const OperandView& view, const Spec& spec, int operand,
                          int dim, int64_t size, VarId tiles) const {
  const int64_t stride = StrideAlong(spec, operand, dim, view, size);
  if (stride == 0) return offset;
  const bool symbolic = HasSymbolicStrideAlong(spec, operand, dim, view);
  const VarId times = symbolic ? sizes_[static_cast<size_t>(InnerDim(spec, operand))].all : kNoVar;
  if (tiles != kNoVar) return Plus(offset, tiles, stride, times);
  return times == kNoVar ? Plus(offset, stride) : Plus(offset, times, stride);
}

// The dim along which the operand's size varies; nothing if it varies along none.
std::optional<size_t> ImplWriter::SymbolicDimOf(const Impl& impl, size_t operand) const {
  for (size_t dim = 0; dim < sizes_.size(); ++dim)
    if (impl.range.varies(dim) && impl.spec.op_info().operands[operand].UsesDim(static_cast<int>(dim)))
      return dim;
  return std::nullopt;
}

// Writes whole tiles of a dim that varies, then the remainder, whose size is a variable of its own. In a
// reduction, all tiles but the first add to what the tiles before them made.
void ImplWriter::WriteSymbolicTiles(const Impl& impl, const OperandViews& views) {
  const Impl& tile = impl.children.front().impl;
  const size_t dim = impl.decision.dim;
  CheckTile(impl.spec, tile.spec, dim);
  const int64_t size = tile.spec.size[dim];
  const Affine all = IndexOf(sizes_[dim].left);
  // Writes one of the two children, `number` tiles behind the beginning.
  const auto write = [&](const Impl& part, VarId number) {
    OperandViews at = views;
    for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand) {
      OperandView& view = at[static_cast<size_t>(operand)];
      view.start.offset =
          Behind(view.start.offset, view, impl.spec, operand, static_cast<int>(dim), size, number);
    }
    around_.push_back(TurnOf(impl, views, 0, size));
    around_.back().known = &part == &tile;
    around_.back().goes_on = true;  // as far as is known here
    const Affine before = tiles_before_;
    if (dim == MatmulDims::kK && !impl.spec.accumulate) tiles_before_ = Plus(before, number, 1);
    const std::optional<AskedTile> asked = asked_;
    if (asked_) asked_->trip = IndexOf(number);
    WriteNode(part, at);
    asked_ = asked;
    tiles_before_ = before;
    around_.pop_back();
  };
  const auto write_left = [&](const Impl& rest, VarId number, int64_t min_tail) {
    builder_.AddLet({all, size, true, min_tail},
                    [&](VarId left) { WithLeft(dim, left, [&] { write(rest, number); }); });
  };
  const Impl& rest = impl.children.back().impl;
  const int64_t min_tail = MinTail(impl);
  // Without a least tail, the remainder is the loop's rest, which runs only if something is left.
  if (min_tail == 0)
    return builder_.AddLoop(
        {all, size}, [&](VarId number) { write(tile, number); },
        [&](VarId number) {
          if (impl.children.size() == 1) return;
          if (!rest.range.varies(dim)) return write(rest, number);  // there is always as much
          write_left(rest, number, 0);
        });
  // With one, the remainder always exists (Count::min_tail), so the number of tiles is a variable that both
  // use.
  builder_.AddLet({all, size, false, min_tail}, [&](VarId tiles) {
    builder_.AddLoop({IndexOf(tiles)}, [&](VarId number) { write(tile, number); });
    write_left(rest, tiles, min_tail);
  });
}

// Calls `write(number, size, last)` once for each form of code that what is left of the dim may need,
// numbered from 0. By single elements (unit 1) there is a form for each size from `least` to `most`. By
// vectors of `unit` elements there is one for each number of vectors; `size` is then the most that the form
// holds, and `last` the number of elements in its last vector.
void ImplWriter::ForSizes(size_t dim, int64_t unit, int64_t least, int64_t most, const WriteSize& write) {
  const VarId left = sizes_[dim].left;
  if (unit == 1)
    return builder_.AddOneOf(left, least, most, [&](int64_t size) { write(size - least, size, Affine{}); });
  const int64_t first = (least - 1) / unit, end = (most - 1) / unit + 1;
  // The last vector has from 1 to `unit` elements; there are `before` whole ones.
  builder_.AddLet({IndexOf(left), unit, true, 1}, [&](VarId last) {
    if (end - first == 1) return write(0, end * unit, IndexOf(last));
    builder_.AddLet({IndexOf(left), unit, false, 1}, [&](VarId before) {
      builder_.AddOneOf(before, first, end - 1, [&](int64_t vectors) {
        write(vectors - first, (vectors + 1) * unit, IndexOf(last));
      });
    });
  });
}

// Writes register tiles for each number of columns, or, if columns do not vary, of rows. The children are in
// the order of ForSizes.
void ImplWriter::WriteRegisterTiles(const Impl& impl, const OperandViews& views) {
  const size_t dim = impl.range.varies(MatmulDims::kN) ? MatmulDims::kN : MatmulDims::kM;
  ForSizes(dim, SizesOfTile(impl.decision.layout, dim), impl.range.least[dim], impl.spec.size[dim],
           [&](int64_t number, int64_t size, const Affine& last) {
             const Impl& tile = impl.children[static_cast<size_t>(number)].impl;
             if (last != Affine{}) {  // of the last unit of columns, what there is of a vector of several
               const int64_t lanes = LanesOfTiles(tile), unit = impl.decision.layout.panel;
               last_ = Plus(last, size - unit - (tile.spec.size[dim] - 1) / lanes * lanes);
             }
             WriteNode(tile, views);
             if (last != Affine{}) last_ = {};
           });
}

// The length of the reduction, or of what is copied along it.
Count ImplWriter::LengthOf(const Impl& impl) const {
  return impl.range.varies(MatmulDims::kK) ? Count{IndexOf(sizes_[MatmulDims::kK].left)}
                                           : Whole(impl.spec.size[MatmulDims::kK]);
}

void ImplWriter::WriteCommonCopies(const Impl& impl, const OperandViews& views) {
  only_common_ = true;
  WriteNode(impl, views);
  only_common_ = false;
}

// Writes a register tile as a kernel run. The first members follow from the spec and the views.
void ImplWriter::WriteRegisterTile(const Impl& impl, const OperandViews& views) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;
  const Spec& spec = impl.spec;
  KIRSCH_CHECK(impl.decision.operand == kOut);
  const Decision& microkernel = OnlyChild(impl).decision;
  KIRSCH_CHECK(microkernel.kind == RewriteKind::kMicrokernel);
  KIRSCH_CHECK(spec.size[MatmulDims::kB] == 1);
  CheckGroups(spec, impl.decision.layout, target_);
  TileShape shape;
  shape.tile = EmittedTile(RegisterTileOf(spec, impl.decision.layout, target_), target_);
  shape.m = spec.size[MatmulDims::kM];
  shape.n = ExtentOf(spec, kOut).inner;
  shape.lhs = views[kLhs].layout.ForTile(ExtentOf(spec, kLhs).inner);
  shape.rhs = views[kRhs].layout.ForTile(ExtentOf(spec, kRhs).inner);
  shape.out = views[kOut].layout;
  shape.accumulate = spec.accumulate;
  shape.epilogue = spec.op_info().epilogue;
  // The epilogue's operands come behind the others.
  std::vector<OperandPlace> at = {views[kLhs].start, views[kRhs].start, views[kOut].start};
  for (int operand = kOut + 1; operand < spec.op_info().num_operands; ++operand) {
    const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
    const OperandView& view = views[static_cast<size_t>(operand)];
    shape.arguments.push_back({view.layout.dtype,
                               info.UsesDim(MatmulDims::kM) ? view.layout.outer_stride.most() : 0,
                               info.UsesDim(MatmulDims::kN)});
    at.push_back(view.start);
  }
  // Prefetches follow from the microkernel's decision, or else from where rhs is.
  shape.prefetch_out = spec.out().level > Level::kL1;
  shape.microkernel = microkernel;
  const Spec& tile = OnlyChild(impl).spec;
  const bool in_order = PrefetchesColumns(tile);
  // Shorter reductions leave gaps between columns that don't move together.
  const bool has_gaps = in_order && Varies(MatmulDims::kK) && shape.rhs.outer_stride.IsConstant();
  if (microkernel.size == 0 && PrefetchesNextTile(tile) && !has_gaps) {
    shape.prefetches_in_order = in_order;
    shape.prefetches_into_l2 = !in_order && tile.operand[kRhs].level == Level::kL1;
    shape.next_tile = in_order ? ColumnsAhead(tile) : shape.n.most();
  }
  // The last members say what is known only when the kernel runs: columns, steps, and whether the tile adds.
  if (last_ != Affine{}) {
    const int64_t lanes = shape.tile.lanes, columns = shape.tile.columns * lanes;
    shape.n = {SizeSymbol::kLast, columns, 1, columns - lanes};
  }
  const Count length = LengthOf(impl);
  if (!Varies(MatmulDims::kK))
    shape.k_tail = length.constant() % shape.step();
  else if (shape.step() > 1)
    shape.k_tail = {SizeSymbol::kTail, shape.step() - 1};
  Affine adds;
  if (tiles_before_ != Affine{}) {
    adds = spec.accumulate ? Constant(1) : tiles_before_;
    shape.accumulate = {SizeSymbol::kAdds, 1};
  }
  if (const DigitAxis* const axis = WindowAxis(spec, MatmulDims::kK)) shape.reduction = *axis;
  if (SumsInBlocks(spec))
    shape.sum_levels = SumLevels(spec.size[MatmulDims::kK] * kSumBlock / shape.block_steps());
  AddTile(std::move(shape), std::move(at), length, adds);
}

}  // namespace kirsch
