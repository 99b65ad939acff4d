#include "spec/interpreter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "spec/check.h"
#include "spec/element.h"
#include "spec/epilogue.h"
#include "spec/microkernel.h"
#include "spec/multiversion.h"
#include "spec/view.h"

namespace kirsch {
namespace {

constexpr std::byte kPadding{0xff};  // every float that is made of it is NaN
constexpr int64_t kSteps = 256;      // steps of the reduction gathered at a time
constexpr int64_t kColumns = 32;     // columns whose sums are kept at a time

using Views = std::array<View, kMaxOperands>;

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The output's tile in registers: kVectors: [rows][columns, padded to `pitch`]; kPartialSums:
// [rows][columns][lanes].
template <typename Number>
struct RegisterTileBuffer {
  Layout layout;
  int64_t rows = 0, columns = 0, pitch = 0;
  std::vector<Number> value;
};

// out[rows][pitch] += lhs[rows][steps] * rhs[steps][pitch]; pitch is a multiple of kColumns.
template <typename Number>
[[gnu::always_inline]] inline void OuterProducts(const Number* lhs, const Number* rhs, int64_t rows,
                                                 int64_t steps, int64_t pitch, Number* out) {
  for (int64_t j0 = 0; j0 < pitch; j0 += kColumns)
    for (int64_t i = 0; i < rows; ++i) {
      Number sum[kColumns];
      Number* row = out + i * pitch + j0;
      for (int64_t j = 0; j < kColumns; ++j) sum[j] = row[j];
      for (int64_t p = 0; p < steps; ++p)
        for (int64_t j = 0; j < kColumns; ++j) sum[j] += lhs[i * steps + p] * rhs[p * pitch + j0 + j];
      for (int64_t j = 0; j < kColumns; ++j) row[j] = sum[j];
    }
}

// sums[rows][columns][lanes]: lane p % lanes of each takes lhs[row][p] * rhs[column][p].
template <typename Number>
[[gnu::always_inline]] inline void DotProducts(const Number* lhs, const Number* rhs, int64_t rows,
                                               int64_t columns, int64_t steps, int64_t lanes, Number* sums) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Number* sum = sums + (i * columns + j) * lanes;
      for (int64_t p0 = 0; p0 < steps; p0 += lanes)
        for (int64_t p = p0; p < std::min(p0 + lanes, steps); ++p)
          sum[p - p0] += lhs[i * steps + p] * rhs[j * steps + p];
    }
}

KIRSCH_MULTIVERSION
void AddOuterProducts(const float* lhs, const float* rhs, int64_t rows, int64_t steps, int64_t pitch,
                      float* out) {
  OuterProducts(lhs, rhs, rows, steps, pitch, out);
}
KIRSCH_MULTIVERSION
void AddOuterProducts(const uint32_t* lhs, const uint32_t* rhs, int64_t rows, int64_t steps, int64_t pitch,
                      uint32_t* out) {
  OuterProducts(lhs, rhs, rows, steps, pitch, out);
}
KIRSCH_MULTIVERSION
void AddDotProducts(const float* lhs, const float* rhs, int64_t rows, int64_t columns, int64_t steps,
                    int64_t lanes, float* sums) {
  DotProducts(lhs, rhs, rows, columns, steps, lanes, sums);
}
KIRSCH_MULTIVERSION
void AddDotProducts(const uint32_t* lhs, const uint32_t* rhs, int64_t rows, int64_t columns, int64_t steps,
                    int64_t lanes, uint32_t* sums) {
  DotProducts(lhs, rhs, rows, columns, steps, lanes, sums);
}

// Number: what sums are kept in. float; or uint32_t, which wraps around as sums of integers do.
template <typename Number>
class Interpreter {
 public:
  explicit Interpreter(const Target& target) : target_(target) {}

  void Run(const Impl& impl, const Views& views) {
    CheckLayouts(impl.spec, views);
    switch (impl.decision.kind) {
      case RewriteKind::kTile:
      case RewriteKind::kParallelTile:
        return RunTiles(impl, views);
      case RewriteKind::kMove:
        return impl.decision.level == Level::kVrf ? RunInRegisters(impl, views) : RunMove(impl, views);
      case RewriteKind::kPack:
        return RunPack(impl, views);
      case RewriteKind::kMicrokernel:
      case RewriteKind::kNone:
        break;
    }
    KIRSCH_CHECK(false && "a program ends in a register tile");
  }

 private:
  void RunTiles(const Impl& impl, const Views& views) {
    const size_t dim = impl.decision.dim;
    int64_t covered = 0;
    for (const Impl::Child& child : impl.children) {
      CheckTile(impl.spec, child.impl.spec, dim);
      for (int64_t trip = 0; trip < child.trips; ++trip) {
        Views tiles;
        for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand)
          tiles[static_cast<size_t>(operand)] = TileView(views[static_cast<size_t>(operand)], child.impl.spec,
                                                         operand, impl.decision.dim, covered);
        Run(child.impl, tiles);
        covered += child.impl.spec.size[dim];
      }
    }
    KIRSCH_CHECK(covered == impl.spec.size[dim]);
  }

  // A tile differs from the spec along `dim` only.
  static void CheckTile(const Spec& spec, const Spec& tile, size_t dim) {
    KIRSCH_CHECK(tile.size[dim] > 0);
    for (size_t other = 0; other < spec.size.size(); ++other)
      KIRSCH_CHECK(other == dim || tile.size[other] == spec.size[other]);
  }

  // What the spec says of its operands is how they lie. The order of a single row or column means nothing.
  static void CheckLayouts(const Spec& spec, const Views& views) {
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
      const TensorSpec& tensor = spec.operand[static_cast<size_t>(operand)];
      const Layout& stated = tensor.layout;
      const View& view = views[static_cast<size_t>(operand)];
      const TileExtent extent = ExtentOf(spec, operand);
      KIRSCH_CHECK(tensor.dtype == view.dtype);
      if (view.layout.kind == LayoutKind::kWindow) {
        CheckWindow(spec, operand, view);
        continue;
      }
      KIRSCH_CHECK(stated.kind == view.layout.kind && stated.panel == view.layout.panel);
      KIRSCH_CHECK(stated.group == view.layout.group);
      KIRSCH_CHECK(stated.order == view.layout.order || extent.outer == 1 || extent.inner == 1);
    }
  }

  // A tile's indices may have fewer digits than the whole window's, but they say the same.
  static void CheckWindow(const Spec& spec, int operand, const View& view) {
    const Window& window = spec.op_info().window;
    const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
    KIRSCH_CHECK((layout.kind == LayoutKind::kWindow) == (window.operand == operand));
    std::array<DigitAxis, 2> axes = window.axes;
    if (layout.kind != LayoutKind::kWindow) {
      const size_t inner = layout.order == Order::kRow ? 1 : 0;
      axes[inner] = DigitAxis::Strided(1);
      axes[1 - inner] = DigitAxis::Strided(layout.ld);
    }
    const int64_t first = view.At({});
    for (size_t axis = 0; axis < 2; ++axis)
      for (int64_t i = 0; i < view.extent[axis + 1]; ++i) {
        AxisArray index = {};
        index[axis + 1] = i;
        KIRSCH_CHECK(view.At(index) - first == axes[axis].At(i));
      }
  }

  void RunMove(const Impl& impl, const Views& views) { Run(OnlyChild(impl), views); }

  void RunPack(const Impl& impl, const Views& views) {
    const size_t operand = impl.decision.operand;
    const Layout& layout = OnlyChild(impl).spec.operand[operand].layout;
    View packed = PackedView(impl.spec, impl.decision.operand, impl.decision.dtype, layout, target_, nullptr);
    // Nothing may be computed from padding, but for the zeros of the last group, which Gather leaves out.
    std::vector<std::byte> copy(static_cast<size_t>(packed.elements * Bytes(packed.dtype)), kPadding);
    packed.data = copy.data();
    CopyTile(views[operand], packed);
    Views below = views;
    below[operand] = packed;
    Run(OnlyChild(impl), below);
  }

  void RunInRegisters(const Impl& impl, const Views& views) {
    const Impl& microkernel = OnlyChild(impl);
    const int output = impl.spec.op_info().output();
    KIRSCH_CHECK(impl.decision.operand == output && microkernel.decision.kind == RewriteKind::kMicrokernel);
    KIRSCH_CHECK(impl.spec.size[MatmulDims::kB] == 1);
    const int64_t rows = impl.spec.size[MatmulDims::kM], columns = impl.spec.size[MatmulDims::kN];
    RegisterTileBuffer<Number> tile{impl.decision.layout, rows, columns, RoundUp(columns, kColumns), {}};
    CheckGroups(impl.spec, tile.layout);
    tile.value.assign(static_cast<size_t>(rows * tile.pitch), 0);
    View dense = DenseView(impl.spec, output, kAccumulator, Order::kRow, tile.pitch, tile.value.data());
    const View& memory = views[static_cast<size_t>(output)];
    if (impl.spec.accumulate) CopyTile(memory, dense);
    if (tile.layout.kind == LayoutKind::kVectors) {
      RunOuterProducts(microkernel.spec, views, &tile);
    } else if (tile.layout.kind == LayoutKind::kLanewise) {
      RunLanewise(microkernel.spec, views, &tile);
    } else {
      RunDotProducts(microkernel.spec, views, &tile);
    }
    if (impl.spec.op_info().epilogue.empty()) return CopyTile(dense, memory);
    StoreThroughEpilogue(impl.spec, views, tile);
  }

  void StoreThroughEpilogue(const Spec& spec, const Views& views, const RegisterTileBuffer<Number>& tile) {
    const OpInfo& info = spec.op_info();
    const View& out = views[static_cast<size_t>(info.output())];
    for (int64_t i = 0; i < tile.rows; ++i)
      for (int64_t j = 0; j < tile.columns; ++j) {
        const auto element = [&](int number) {
          return EpilogueElement(info, info.output() + 1 + number, views, i, j);
        };
        const Number sum = tile.value[static_cast<size_t>(i * tile.pitch + j)];
        const double exact = std::is_floating_point_v<Number>
                                 ? static_cast<double>(sum)
                                 : static_cast<double>(static_cast<int32_t>(sum));
        const Uncertain stored = Apply(info.epilogue, kAccumulator, out.dtype, {exact, 0}, element);
        StoreElement(out.dtype, stored.value, out.data, out.At({0, i, j}));
      }
  }

  static double EpilogueElement(const OpInfo& info, int operand, const Views& views, int64_t row,
                                int64_t column) {
    const View& view = views[static_cast<size_t>(operand)];
    const OperandInfo& axes = info.operands[static_cast<size_t>(operand)];
    const AxisArray index = {0, axes.UsesDim(MatmulDims::kM) ? row : 0,
                             axes.UsesDim(MatmulDims::kN) ? column : 0};
    return LoadElement(view.dtype, view.data, view.At(index));
  }

  // Where vectors are multiplied group by group, rhs lies so, and lhs, if in groups too, is contiguous along
  // the reduction.
  void CheckGroups(const Spec& spec, const Layout& registers) const {
    if (registers.kind != LayoutKind::kVectors) return;
    const TensorSpec &lhs = spec.operand[MatmulDims::kLhs], &rhs = spec.operand[MatmulDims::kRhs];
    KIRSCH_CHECK(rhs.layout.group == registers.group);
    KIRSCH_CHECK(!GroupsLhs(ArithmeticOf(lhs.dtype, rhs.dtype, registers.group, target_)) ||
                 InnerDim(spec, MatmulDims::kLhs) == MatmulDims::kK);
  }

  void RunOuterProducts(const Spec& spec, const Views& views, RegisterTileBuffer<Number>* tile) {
    ForSteps(spec, views, kSteps, [&](const Spec& steps, const View& lhs, const View& rhs) {
      Gather(lhs, steps, MatmulDims::kLhs, Order::kRow, 0, &lhs_);
      Gather(rhs, steps, MatmulDims::kRhs, Order::kRow, tile->pitch, &rhs_);
      AddOuterProducts(lhs_.data(), rhs_.data(), tile->rows, steps.size[MatmulDims::kK], tile->pitch,
                       tile->value.data());
    });
  }

  void RunLanewise(const Spec& spec, const Views& views, RegisterTileBuffer<Number>* tile) {
    KIRSCH_CHECK(spec.op_info().base == OpKind::kDepthwise);
    ForSteps(spec, views, kSteps, [&](const Spec& steps, const View& lhs, const View& rhs) {
      Gather(lhs, steps, MatmulDims::kLhs, Order::kRow, tile->pitch, &lhs_);
      Gather(rhs, steps, MatmulDims::kRhs, Order::kRow, tile->pitch, &rhs_);
      const int64_t row = steps.size[MatmulDims::kK] * tile->pitch;
      for (int64_t i = 0; i < tile->rows; ++i)
        for (int64_t at = 0; at < row; ++at)
          tile->value[static_cast<size_t>(i * tile->pitch + at % tile->pitch)] +=
              lhs_[static_cast<size_t>(i * row + at)] * rhs_[static_cast<size_t>(at)];
    });
  }

  // Partial sums start from zero; the sum of an element's lanes is added to what the tile held.
  void RunDotProducts(const Spec& spec, const Views& views, RegisterTileBuffer<Number>* tile) {
    const int64_t lanes = tile->layout.panel;
    std::vector<Number> sums(static_cast<size_t>(tile->rows * tile->columns * lanes));
    ForSteps(spec, views, kSteps, [&](const Spec& steps, const View& lhs, const View& rhs) {
      Gather(lhs, steps, MatmulDims::kLhs, Order::kRow, 0, &lhs_);
      Gather(rhs, steps, MatmulDims::kRhs, Order::kCol, 0, &rhs_);
      AddDotProducts(lhs_.data(), rhs_.data(), tile->rows, tile->columns, steps.size[MatmulDims::kK], lanes,
                     sums.data());
    });
    for (int64_t i = 0; i < tile->rows; ++i)
      for (int64_t j = 0; j < tile->columns; ++j) {
        Number sum = 0;
        for (int64_t lane = 0; lane < lanes; ++lane)
          sum += sums[static_cast<size_t>((i * tile->columns + j) * lanes + lane)];
        tile->value[static_cast<size_t>(i * tile->pitch + j)] += sum;
      }
  }

  // Calls `body` on consecutive pieces of the reduction, which keep the gathered operands in the cache.
  template <typename Body>
  static void ForSteps(const Spec& spec, const Views& views, int64_t piece, const Body& body) {
    Spec steps = spec;
    for (int64_t done = 0; done < spec.size[MatmulDims::kK]; done += piece) {
      steps.size[MatmulDims::kK] = static_cast<uint32_t>(std::min(piece, spec.size[MatmulDims::kK] - done));
      body(steps, TileView(views[MatmulDims::kLhs], steps, MatmulDims::kLhs, MatmulDims::kK, done),
           TileView(views[MatmulDims::kRhs], steps, MatmulDims::kRhs, MatmulDims::kK, done));
    }
  }

  static void Gather(const View& from, const Spec& spec, int operand, Order order, int64_t pitch,
                     std::vector<Number>* to) {
    View dense = DenseView(spec, operand, kAccumulator, order, pitch, nullptr);
    to->resize(static_cast<size_t>(dense.elements));
    dense.data = to->data();
    CopyTile(from, dense);
  }

  static const Impl& OnlyChild(const Impl& impl) {
    KIRSCH_CHECK(impl.children.size() == 1 && impl.children[0].trips == 1);
    const Impl& child = impl.children[0].impl;
    KIRSCH_CHECK(child.spec.size == impl.spec.size);
    return child;
  }

  static constexpr Dtype kAccumulator = std::is_floating_point_v<Number> ? Dtype::kF32 : Dtype::kS32;

  const Target& target_;
  std::vector<Number> lhs_, rhs_;  // gathered tiles of the microkernel, kept to save allocations
};

}  // namespace

void Interpret(const Impl& impl, const Target& target, const ConstOperands& inputs, void* out) {
  Views views;
  const int output = impl.spec.op_info().output();
  for (int operand = 0; operand < impl.spec.op_info().num_operands; ++operand) {
    // Views of inputs are never written through.
    void* data = const_cast<void*>(inputs[static_cast<size_t>(operand)]);
    views[static_cast<size_t>(operand)] = RootView(impl.spec, operand, data);
  }
  views[static_cast<size_t>(output)] = RootView(impl.spec, output, out);
  if (IsFloating(AccumulatorOf(impl.spec))) {
    Interpreter<float>(target).Run(impl, views);
  } else {
    Interpreter<uint32_t>(target).Run(impl, views);
  }
}

}  // namespace kirsch
