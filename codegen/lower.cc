#include "codegen/lower.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/impl_lowering.h"
#include "codegen/microkernels.h"
#include "codegen/pack.h"
#include "codegen/procedure_builder.h"
#include "spec/check.h"
#include "spec/footprint.h"

namespace kirsch {
namespace {

constexpr int64_t kScratchAlignment = 64;

const TensorSpec& Operand(const Spec& spec, int operand) {
  return spec.operand[static_cast<size_t>(operand)];
}

VarId ArgumentParameter(const Spec& spec, int operand) {
  return EntryParameter::kArguments + operand - spec.op_info().output() - 1;
}

// How an operand of the caller's lies.
MatrixLayout StoredLayout(const Spec& spec, int operand) {
  const Layout& layout = Operand(spec, operand).layout;
  MatrixLayout stored{layout.order, layout.ld, 0, 0, 1, Operand(spec, operand).dtype};
  KIRSCH_CHECK(layout.kind == LayoutKind::kStrided || layout.kind == LayoutKind::kWindow);
  if (layout.kind == LayoutKind::kWindow) {
    stored.window = spec.op_info().window;
  } else if (const DigitAxis* const rows = RowDigits(spec, operand)) {
    stored.window = {operand, {*rows, DigitAxis::Strided(1)}};
  }
  return stored;
}

View RootView(const Spec& spec, int operand) {
  const Layout& layout = Operand(spec, operand).layout;
  const TileExtent extent = ExtentOf(spec, operand);
  const VarId pointer =
      IsEpilogueOperand(spec, operand) ? ArgumentParameter(spec, operand) : static_cast<VarId>(operand);
  return {At(pointer), extent.outer * layout.ld, StoredLayout(spec, operand)};
}

// The offset of the tile that starts `steps` * `size` along `dim`, `steps` being a constant or an index.
int64_t StrideAlong(const Spec& spec, int operand, int dim, const View& view, int64_t size) {
  if (!spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(dim)) return 0;
  if (dim == OuterDim(spec, operand)) {
    KIRSCH_CHECK(size % view.layout.group == 0);
    return view.layout.OuterOffset(size);
  }
  if (dim != InnerDim(spec, operand)) return size * view.batch_stride;
  KIRSCH_CHECK(view.layout.panel == 0 || size % view.layout.panel == 0);
  return view.layout.InnerOffset(size);
}

class Lowering : public ImplLowering {
 public:
  Lowering(const Target& target, LoopProgram& program, ProcedureBuilder& builder)
      : target_(target), program_(program), builder_(builder) {
    program_.masks = std::any_of(target.vectors.begin(), target.vectors.end(),
                                 [](const VectorUnit& unit) { return unit.masks; });
    AddFeature("avx2");
    AddFeature("fma");
    if (!program_.masks) return;
    AddFeature("avx512f");
    AddFeature("avx512vl");
  }

  // A spec's kernel.
  void Run(const Impl& impl) {
    AddElementFeatures(impl.spec);
    const bool packed_ahead = ConstantOperand(impl.spec) >= 0;
    const Impl& kernel = packed_ahead ? OnlyChild(impl) : impl;
    const Spec& spec = kernel.spec;
    AddElementFeatures(spec);
    builder_.PointerParameter("lhs", Operand(spec, EntryParameter::kLhs).dtype, false);
    builder_.PointerParameter("rhs", Operand(spec, EntryParameter::kRhs).dtype, false);
    builder_.PointerParameter("out", spec.out().dtype, true);
    builder_.PointerParameter("scratch", AccumulatorOf(spec), true);
    program_.block = spec.block;
    builder_.IndexParameter(spec.block != 0 ? kFirstColumn : kThread);
    builder_.IndexParameter(spec.block != 0 ? kEndColumn : kThreads);
    AddArguments(spec);
    Views views;
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
      views[static_cast<size_t>(operand)] = RootView(impl.spec, operand);
    if (packed_ahead) views[impl.decision.operand] = PackAhead(impl, views[impl.decision.operand]);
    program_.tasks = TaskCount(kernel);
    LowerTask(kernel, views, Constant(0));
  }

  void LowerProgram(const Impl& impl, const Views& views) override {
    AddElementFeatures(impl.spec);
    LowerNode(impl, views);
  }

  void LowerSharedProgram(const Impl& impl, const Views& views, const Affine& first) override {
    AddElementFeatures(impl.spec);
    LowerTask(impl, views, first);
  }

  View ViewAt(const Spec& spec, int operand, const Address& start) const override {
    const Layout& layout = Operand(spec, operand).layout;
    const TileExtent extent = ExtentOf(spec, operand);
    if (layout.kind == LayoutKind::kPacked)
      return {start, 0, PackedLayout(extent, layout, Operand(spec, operand).dtype)};
    return {start, extent.outer * layout.ld, StoredLayout(spec, operand)};
  }

  void LowerCopy(const Impl& impl, const Address& from, const Address& to) override {
    const Pack pack = CopyOf(impl, StoredLayout(impl.spec, impl.decision.operand));
    builder_.Do(Call{ProcedureFor(pack), {from, to}, {}});
  }

  int ProcedureFor(const std::string& name, const std::function<Procedure()>& make) override {
    const auto [it, inserted] =
        procedure_numbers_.try_emplace(name, static_cast<int>(program_.procedures.size()) + 1);
    if (inserted) program_.procedures.push_back(make());
    return it->second;
  }

  void AddFeature(std::string_view feature) override {
    if (!program_.HasFeature(feature)) program_.features.emplace_back(feature);
  }

  void UseScratch(int64_t bytes) override {
    scratch_top_ = bytes;
    program_.scratch_bytes = std::max(program_.scratch_bytes, bytes);
  }

 private:
  template <typename Features>
  void AddFeatures(const Features& features) {
    for (std::string_view feature : features) AddFeature(feature);
  }

  void AddArguments(const Spec& spec) {
    program_.arguments = spec.op_info().epilogue.operands();
    for (int i = 0; i < program_.arguments; ++i)
      builder_.PointerParameter(absl::StrCat("arg", i + 1),
                                Operand(spec, spec.op_info().output() + 1 + i).dtype, false);
  }

  // What elements that are no accumulators take: f16 its conversion, and mask registers those for narrow
  // lanes.
  void AddElementFeatures(const Spec& spec) {
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
      const Dtype dtype = Operand(spec, operand).dtype;
      if (dtype == Dtype::kF16) AddFeatures(std::array{"f16c"});
      if (Bytes(dtype) < kAccumulatorBytes && program_.masks && target_.HasFeature("avx512bw"))
        AddFeatures(std::array{"avx512bw"});
    }
  }

  // The part of the tree above the tasks; `task` is the number of the first task in `impl`.
  void LowerTask(const Impl& impl, const Views& views, const Affine& task) {
    if (!program_.SharesWork()) return LowerNode(impl, views);
    if (impl.spec.block == 0 && TaskCount(impl) == 1)
      return builder_.OnThreadOf(task, [&] { LowerNode(impl, views); });
    LowerTiles(impl, views, task);
  }

  void LowerNode(const Impl& impl, const Views& views) {
    switch (impl.decision.kind) {
      case RewriteKind::kTile:
      case RewriteKind::kParallelTile:
        return LowerTiles(impl, views, std::nullopt);
      case RewriteKind::kMove:
        if (impl.decision.level == Level::kVrf) return LowerRegisterTile(impl, views);
        return LowerNode(OnlyChild(impl), views);
      case RewriteKind::kPack:
        return LowerPack(impl, views);
      case RewriteKind::kMicrokernel:
      case RewriteKind::kNone:
        break;
    }
    KIRSCH_CHECK(false && "a program tree that is not complete");
  }

  const Impl& OnlyChild(const Impl& impl) const {
    KIRSCH_CHECK(impl.children.size() == 1 && impl.children[0].trips == 1);
    return impl.children[0].impl;
  }

  // Tiles in order; `task`: the number of the first task, above the tasks.
  void LowerTiles(const Impl& impl, const Views& views, const std::optional<Affine>& task) {
    const DigitAxis* const axis = WindowAxis(impl.spec, impl.decision.dim);
    int64_t position = 0, tasks = 0;
    for (const Impl::Child& child : impl.children) {
      Tiles tiles{impl, child, DigitAxis::Strided(1), task ? TaskCount(child.impl) : 0};
      if (axis != nullptr) tiles.axis = *axis;
      const std::optional<Affine> first = task ? std::optional(Plus(*task, tasks)) : std::nullopt;
      LowerRuns(tiles, tiles.axis.digits - 1, {views, first, position}, child.trips);
      position += child.trips * tiles.size();
      tasks += child.trips * tiles.tasks;
    }
  }

  // The tiles of one child of a tile node.
  struct Tiles {
    const Impl& impl;
    const Impl::Child& child;
    DigitAxis axis;  // how a window is indexed by the dim that is tiled
    int64_t tasks;   // in each tile
    int64_t size() const { return child.impl.spec.size[impl.decision.dim]; }
  };
  // Where a tile is: `position` after what `views` and `task` say.
  struct Place {
    Views views;
    std::optional<Affine> task;
    int64_t position;
  };

  // `trips` tiles that are in one run of digit `level`: what ends the first run, whole runs, what begins the
  // last.
  void LowerRuns(const Tiles& tiles, int level, Place place, int64_t trips) {
    const int64_t size = tiles.size(), unit = tiles.axis.unit(level);
    if (size % unit == 0) {
      return Repeat(tiles, level, place, trips, size, [&](const Place& at) { LowerTile(tiles, at); });
    }
    const int64_t per_run = unit / size;
    const auto pass = [&](int64_t passed) {
      place.position += passed * size;
      if (place.task) place.task->constant += passed * tiles.tasks;
      trips -= passed;
    };
    if (place.position % unit != 0) {
      const int64_t head = std::min(trips, (unit - place.position % unit) / size);
      LowerRuns(tiles, level - 1, place, head);
      pass(head);
    }
    Repeat(tiles, level, place, trips / per_run, unit,
           [&](const Place& at) { LowerRuns(tiles, level - 1, at, per_run); });
    pass(trips / per_run * per_run);
    if (trips > 0) LowerRuns(tiles, level - 1, place, trips);
  }

  // `body` at `count` places, each `step` after the one before, a step of digit `level`.
  template <typename Body>
  void Repeat(const Tiles& tiles, int level, const Place& place, int64_t count, int64_t step,
              const Body& body) {
    if (count == 1) return body(place);
    builder_.Loop(Constant(count), [&](VarId index) {
      Place at = place;
      if (at.task) *at.task = Plus(*at.task, index, step / tiles.size() * tiles.tasks);
      for (int operand = 0; operand < tiles.impl.spec.op_info().num_operands; ++operand) {
        View& view = at.views[static_cast<size_t>(operand)];
        const int64_t stride =
            IsIndexed(tiles, operand)
                ? step / tiles.axis.unit(level) * tiles.axis.stride(level)
                : StrideAlong(tiles.impl.spec, operand, tiles.impl.decision.dim, view, step);
        if (stride != 0) view.start.offset = Plus(view.start.offset, index, stride);
      }
      body(at);
    });
  }

  // True if the digits say where the operand's tiles are.
  static bool IsIndexed(const Tiles& tiles, int operand) {
    return IsWindow(tiles.impl.spec, operand) &&
           WindowAxis(tiles.impl.spec, tiles.impl.decision.dim) != nullptr;
  }

  void LowerTile(const Tiles& tiles, const Place& place) {
    const Spec &spec = tiles.impl.spec, &tile = tiles.child.impl.spec;
    Views views = place.views;
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
      View& view = views[static_cast<size_t>(operand)];
      const int64_t offset = IsIndexed(tiles, operand)
                                 ? tiles.axis.At(place.position)
                                 : StrideAlong(spec, operand, tiles.impl.decision.dim, view, place.position);
      view.start.offset = Plus(view.start.offset, offset);
      if (IsWindow(spec, operand)) view.layout = StoredLayout(tile, operand);
    }
    if (place.task) return LowerTask(tiles.child.impl, views, *place.task);
    LowerNode(tiles.child.impl, views);
  }

  MatrixLayout PackedLayout(const TileExtent& extent, const Layout& layout, Dtype dtype) const {
    if (layout.panel == 0) return {layout.order, CopyLd(extent, layout, dtype, target_), 0, 0, 1, dtype};
    const int64_t group = layout.group, groups = (extent.outer + group - 1) / group;
    const int64_t group_stride = layout.panel * group;
    return {layout.order, group_stride, layout.panel, groups * group_stride, group, dtype};
  }

  // The copy that a kPack makes of an operand that lies like `from`.
  Pack CopyOf(const Impl& impl, const MatrixLayout& from) const {
    const int operand = impl.decision.operand;
    const Spec& child = OnlyChild(impl).spec;
    const TileExtent extent = ExtentOf(child, operand);
    KIRSCH_CHECK(extent.batch == 1);
    const TensorSpec& copy = Operand(child, operand);
    return {target_.vectors.front().bytes, extent.outer, extent.inner, from,
            PackedLayout(extent, copy.layout, copy.dtype)};
  }

  int64_t CopyBytes(const Impl& impl) const {
    const int operand = impl.decision.operand;
    const Spec& child = OnlyChild(impl).spec;
    const TensorSpec& copy = Operand(child, operand);
    return PackedElements(ExtentOf(child, operand), copy.layout, copy.dtype, target_) * Bytes(copy.dtype);
  }

  int ProcedureFor(const Pack& pack) {
    return ProcedureFor(pack.Name(), [&] { return PackProcedure(pack); });
  }

  // The view that the kernel has of an operand that is packed before it is called.
  View PackAhead(const Impl& impl, const View& operand) {
    KIRSCH_CHECK(impl.decision.kind == RewriteKind::kPack);
    const Pack pack = CopyOf(impl, operand.layout);
    // Rows that are no whole vectors apart end with a whole one all the same.
    const bool beyond =
        pack.to.panel == 0 && pack.to.outer_stride * Bytes(pack.to.dtype) % pack.vector_bytes != 0;
    const int64_t bytes = CopyBytes(impl) + (beyond ? pack.vector_bytes : 0);
    program_.packing =
        Packing{impl.decision.operand, pack.from.dtype, WholeLines(bytes), ProcedureFor(pack), {}};
    return {operand.start, 0, pack.to};
  }

  static int64_t WholeLines(int64_t bytes) {
    return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  }

  void LowerPack(const Impl& impl, const Views& views) {
    const int operand = impl.decision.operand;
    const Impl& child = OnlyChild(impl);
    const Pack pack = CopyOf(impl, views[static_cast<size_t>(operand)].layout);
    const int64_t outside = scratch_top_;
    Views inside = views;
    inside[static_cast<size_t>(operand)] = {At(program_.scratch(), scratch_top_ / Bytes(pack.to.dtype)), 0,
                                            pack.to};
    const Address &from = views[static_cast<size_t>(operand)].start,
                  &to = inside[static_cast<size_t>(operand)].start;
    if (IsWindow(impl.spec, operand)) {
      LowerWindowCopy(impl.spec, pack, from, to);
    } else {
      builder_.Do(Call{ProcedureFor(pack), {from, to}, {}});
    }
    scratch_top_ += WholeLines(CopyBytes(impl));
    program_.scratch_bytes = std::max(program_.scratch_bytes, scratch_top_);
    LowerNode(child, inside);
    scratch_top_ = outside;  // buffers of siblings share the space
  }

  // A copy of a window, run by run.
  void LowerWindowCopy(const Spec& spec, const Pack& whole, const Address& from, const Address& to) {
    const auto& [rows, columns] = spec.op_info().window.axes;
    const auto run = [](const DigitAxis& axis, int64_t size) {
      return axis.digits == 1 ? size : int64_t{axis.digit[0].count};
    };
    Pack pack = whole;
    pack.outer = run(rows, whole.outer);
    pack.inner = run(columns, whole.inner);
    pack.from = {Order::kRow, rows.stride(0), 0, 0, 1, whole.from.dtype};
    pack.inner_stride = columns.stride(0);
    pack.exact = columns.digits > 1 && (whole.to.panel == 0 || pack.inner % whole.to.panel != 0);
    if (pack.exact) pack.to = {Order::kRow, whole.to.outer_stride, 0, 0, 1, whole.to.dtype};
    const int procedure = ProcedureFor(pack);
    const auto along_columns = [&](const Address& run_from, const Address& run_to) {
      ForRuns(
          columns, whole.inner, [&](int64_t index) { return whole.to.InnerOffset(index); }, run_from, run_to,
          [&](const Address& a, const Address& b) {
            builder_.Do(Call{procedure, {a, b}, {}});
          });
    };
    ForRuns(
        rows, whole.outer, [&](int64_t index) { return whole.to.OuterOffset(index); }, from, to,
        along_columns);
  }

  // Calls body(from, to) for each run of the axis's innermost digit; index i lies at copied(i) in the copy.
  template <typename Copied, typename Body>
  void ForRuns(const DigitAxis& axis, int64_t size, const Copied& copied, const Address& from,
               const Address& to, const Body& body, int level = kMaxDigits) {
    level = std::min(level, axis.digits) - 1;
    if (level == 0) return body(from, to);
    const int64_t end = level + 1 < axis.digits ? axis.unit(level + 1) : size;
    builder_.Loop(Constant(end / axis.unit(level)), [&](VarId index) {
      Address next_from = from, next_to = to;
      next_from.offset = Plus(next_from.offset, index, axis.stride(level));
      next_to.offset = Plus(next_to.offset, index, copied(axis.unit(level)));
      ForRuns(axis, size, copied, next_from, next_to, body, level);
    });
  }

  void LowerRegisterTile(const Impl& impl, const Views& views) {
    constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;
    const Spec& spec = impl.spec;
    KIRSCH_CHECK(impl.decision.operand == kOut);
    const Decision& microkernel = OnlyChild(impl).decision;
    KIRSCH_CHECK(microkernel.kind == RewriteKind::kMicrokernel);
    const int64_t k = spec.size[MatmulDims::kK];
    Microkernel kernel;
    kernel.tile = RegisterTileOf(spec, impl.decision.layout, target_);
    kernel.n = ExtentOf(spec, kOut).inner;
    kernel.lhs = views[kLhs].layout.ForTile(ExtentOf(spec, kLhs).inner);
    kernel.rhs = views[kRhs].layout.ForTile(ExtentOf(spec, kRhs).inner);
    kernel.out = views[kOut].layout;
    kernel.accumulate = spec.accumulate;
    kernel.epilogue = spec.op_info().epilogue;
    kernel.scales = program_.masks;
    std::vector<Address> pointers = {views[kLhs].start, views[kRhs].start, views[kOut].start};
    for (int operand = kOut + 1; operand < spec.op_info().num_operands; ++operand) {
      const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
      const View& view = views[static_cast<size_t>(operand)];
      kernel.arguments.push_back({view.layout.dtype,
                                  info.UsesDim(MatmulDims::kM) ? view.layout.outer_stride : 0,
                                  info.UsesDim(MatmulDims::kN)});
      pointers.push_back(view.start);
    }
    kernel.prefetch_out = spec.out().level > Level::kL1;
    (microkernel.dim == MatmulDims::kK ? kernel.prefetch_k : kernel.prefetch_n) = microkernel.size;
    if (microkernel.size == 0 && PrefetchesNextTile(OnlyChild(impl).spec)) kernel.prefetch_n = kernel.n;
    kernel.k_tail = k % kernel.step();
    if (const DigitAxis* const axis = WindowAxis(spec, MatmulDims::kK)) kernel.reduction = *axis;
    const VectorUnit& unit = UnitWithLanes(target_, kernel.tile.lanes);
    FitToRegisters(unit, &kernel);
    const auto features = FeaturesOf(kernel.tile.arithmetic, unit, target_);
    KIRSCH_CHECK(features.has_value());
    AddFeatures(*features);
    builder_.Do(Call{ProcedureFor(kernel.Name(), [&] { return MicrokernelProcedure(kernel); }),
                     std::move(pointers), kernel.Counts(k)});
  }

  const Target& target_;
  LoopProgram& program_;  // without the entry while it is being built
  ProcedureBuilder& builder_;
  std::map<std::string, int> procedure_numbers_;
  int64_t scratch_top_ = 0;  // bytes in use by the packs around the current node
};

}  // namespace

int64_t TaskCount(const Impl& impl) {
  int64_t parallel = 0, tasks = 0;
  for (const Impl::Child& child : impl.children) {
    const int64_t inside = TaskCount(child.impl);
    parallel = std::max(parallel, inside);
    tasks += child.trips * inside;
  }
  const bool shared = impl.decision.kind == RewriteKind::kParallelTile || impl.spec.block != 0;
  return shared || parallel > 1 ? tasks : 1;
}

std::unique_ptr<ImplLowering> ImplLowering::Make(const Target& target, LoopProgram& program,
                                                 ProcedureBuilder& builder) {
  return std::make_unique<Lowering>(target, program, builder);
}

LoopProgram Lower(const Impl& impl, const Target& target, const std::string& name) {
  LoopProgram program;
  program.name = name;
  ProcedureBuilder entry(name);
  Lowering(target, program, entry).Run(impl);
  program.procedures.insert(program.procedures.begin(), std::move(entry).Build());
  return program;
}

}  // namespace kirsch
