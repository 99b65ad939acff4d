// SPDX-License-Identifier: Apache-2.0
// Computes a transposed convolution with its epilogue as matmuls, without zeros between the pixels. Output
// pixels that are whole strides apart meet the same taps: they are a phase. A row of a phase is a sum of
// matmuls, one for each tap: of a row of the image by the tap's matrix of channels x filters. The first one
// writes every stride-th pixel of the output's row, the others add to it, the last has the epilogue.
//
//   before -> after, for conv2d_transpose(x, w, stride=2, pad=1, layout=nhwc), x: f32[1,16,16,64], 4x4
//   filters, an output of 32x32:
//     copy x with zeros around it: 18x18x64
//     for y in 0..15:  phase (0,0), for all x:
//                        out[2y][2x]  = in[y][x] w[1][1]
//                        out[2y][2x] += in[y][x-1] w[1][3]
//                        out[2y][2x] += in[y-1][x] w[3][1]
//                        out[2y][2x] += in[y-1][x-1] w[3][3]
//                      phases (0,1), (1,0) and (1,1): the same with the other taps
//
// What it costs beside the multiplications: each row of the output is read and written again for each tap
// after the first that it meets. The image is copied if a tap reaches beyond it. In layout nchw a phase is no
// matrix with contiguous rows, so image, filters and result are transposed as well. Threads do not share the
// work then.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/convolution_stages.h"
#include "rewrites/graph/registry.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// More matmuls than this are only tried in loops: each one is a question to the search, and code.
constexpr size_t kMostAlone = 128;
constexpr size_t kMostInLoops = 1 << 15;  // before they are joined, so that it takes little memory

// The pixels of the output that are whole strides apart, along one axis. Pixel `i` of them, from 0, meets
// tap `tap + t * apart` at the image's pixel `in + i - t * dilation`, for each t below `taps`. The image's
// pixel may be outside of the image, where zeros are.
struct PhaseAlong {
  int64_t count = 0;          // of such pixels
  int64_t tap = 0, taps = 0;  // no taps: these pixels are 0
  int64_t apart = 1;
  int64_t in = 0, dilation = 1;
};

// The phase of the pixel `first` of the output, which is below the stride.
PhaseAlong PhaseOf(const ConvolutionSizes::Axis& sizes, const AxisOptions& options, int64_t first) {
  const int64_t stride = options.stride, common = std::gcd(stride, int64_t{options.dilation});
  PhaseAlong phase;
  phase.count = (sizes.out - first + stride - 1) / stride;
  phase.apart = stride / common;
  phase.dilation = options.dilation / common;
  // The first tap that some pixel of the image reaches this one through, counted from the first tap of pixel
  // 0.
  const int64_t place = first + options.before;
  while (phase.tap < phase.apart && (place - phase.tap * options.dilation) % stride != 0) ++phase.tap;
  if (phase.tap < std::min<int64_t>(phase.apart, sizes.kernel)) {
    phase.taps = (sizes.kernel - phase.tap + phase.apart - 1) / phase.apart;
    phase.in = (place - phase.tap * options.dilation) / stride;
  }
  return phase;
}

// The node as if it were of the layout nhwc and without strides, padded with the zeros that its taps meet
// outside of the image. So images and copies of them have the sizes that convolutions have.
GraphNode PaddedNode(const ConvolutionNode& node) {
  GraphNode padded = node.node;
  padded.conv.layout = ImageLayout::kNhwc;
  for (size_t axis = 0; axis < ImageAxes::kCount; ++axis) {
    const AxisOptions& options = node.node.conv.axes[axis];
    const ConvolutionSizes::Axis& sizes = node.sizes.axes[axis];
    int64_t before = 0, after = 0;
    for (int64_t first = 0; first < std::min(options.stride, sizes.out); ++first) {
      const PhaseAlong phase = PhaseOf(sizes, options, first);
      if (phase.taps == 0) continue;
      before = std::max(before, (phase.taps - 1) * phase.dilation - phase.in);
      after = std::max(after, phase.in + phase.count - int64_t{sizes.image});
    }
    padded.conv.axes[axis] = {1, 1, static_cast<uint32_t>(before), static_cast<uint32_t>(after)};
  }
  return padded;
}

// Writes the loop nests. Rows of the nests are those of a phase, along the first axis that has any but the
// width; items of the batch are the images, or the slices of images with a depth.
class TransposedShaper {
 public:
  TransposedShaper(const FusedConvolution& whole, const GroupForm& form)
      : whole_(whole),
        node_(whole.node),
        padded_node_(PaddedNode(whole)),
        padded_{padded_node_, whole.sizes},
        next_value_(form.next_value),
        in_loops_(form.parameters[0] != 0) {}

  // How many matmuls there are: all taps, and the phases without any.
  size_t Matmuls() const {
    size_t all = 1;
    for (size_t axis = 0; axis < ImageAxes::kCount; ++axis) {
      size_t along = 0;
      for (int64_t first = 0; first < std::min<int64_t>(stride(axis), sizes().axes[axis].out); ++first)
        along += static_cast<size_t>(std::max<int64_t>(Phase(axis, first).taps, 1));
      all *= along;
    }
    return all;
  }

  GroupShape Shape(const GroupProblem& problem) && {
    Check(problem);
    if (!shape_.error.empty()) return std::move(shape_);
    whole_.Reserve(&shape_);
    image_ = whole_.image_value();
    filters_ = whole_.filters_value();
    result_ = whole_.fused().result;
    std::vector<Stage> before;
    if (!whole_.nhwc()) Turn(&before);
    if (padded_node_.conv.padded()) Pad(&before);
    AddNests(&before);
    shape_.nests.front().before = std::move(before);
    if (!whole_.nhwc()) TurnBack();
    return std::move(shape_);
  }

 private:
  using Numbers = std::array<int64_t, ImageAxes::kCount>;  // one for each axis

  const ConvolutionSizes& sizes() const { return whole_.sizes; }
  int64_t channels() const { return sizes().channels; }
  int64_t filters() const { return sizes().filters; }
  int64_t stride(size_t axis) const { return node_.conv.axes[axis].stride; }
  PhaseAlong Phase(size_t axis, int64_t first) const {
    return PhaseOf(sizes().axes[axis], node_.conv.axes[axis], first);
  }
  // Output pixels of an axis that all its phases have, and the phases that have one more.
  int64_t InAll(size_t axis) const { return sizes().axes[axis].out / stride(axis); }
  int64_t Longer(size_t axis) const { return sizes().axes[axis].out % stride(axis); }
  bool has_depth() const { return whole_.has_depth(); }

  void Check(const GroupProblem& problem) {
    if (!whole_.IsAll(&shape_)) return;
    bool adds = false;
    for (size_t axis = 0; axis < ImageAxes::kCount; ++axis)
      adds = adds || TransposedTapsAlong(sizes().axes[axis], node_.conv.axes[axis]) > 1;
    if (adds && whole_.stored() != Dtype::kF32)
      shape_.Fail(whole_.id(), "sums in the memory of the result");
    else if (whole_.TakesPixels() && stride(ImageAxes::kWidth) > 1)
      shape_.Fail(whole_.id(), "an epilogue without an element for each pixel");
    else if (!whole_.nhwc() && whole_.fused().taken > 0)
      shape_.Fail(whole_.id(), "a transposed convolution alone, where channels come first");
    else if (!whole_.nhwc() && problem.threads > 1)
      shape_.Fail(whole_.id(), "one thread, where channels come first");
    else if (!in_loops_ && Matmuls() > kMostAlone)
      shape_.Fail(whole_.id(), "fewer taps, or matmuls in loops");
    else if (Matmuls() > kMostInLoops)
      shape_.Fail(whole_.id(), Cat("at most ", kMostInLoops, " taps and phases of a transposed convolution"));
  }

  int NewBuffer(int64_t elements) {
    shape_.Reserve(next_value_, elements, Dtype::kF32);
    return next_value_++;
  }

  // Turns `planes` matrices of height x width. Returns the buffer, or the value if there is nothing to turn.
  int Turned(int value, int64_t planes, int64_t height, int64_t width, std::vector<Stage>* stages) {
    if (height == 1 || width == 1) return value;
    Stage stage;
    stage.kind = StageKind::kTranspose;
    stage.copy.planes = planes;
    stage.copy.height = height;
    stage.copy.width = width;
    const int turned = NewBuffer(planes * height * width);
    stage.operands = {{value, 0, 0, 0}, {turned, 0, 0, 0}};
    stages->push_back(std::move(stage));
    return turned;
  }

  int64_t Pixels(uint32_t ConvolutionSizes::Axis::* size) const {
    int64_t pixels = 1;
    for (const ConvolutionSizes::Axis& axis : sizes().axes) pixels *= axis.*size;
    return pixels;
  }

  // From nchw to nhwc; the result gets a buffer. Filters [channel][filter][tap] are a matrix with a column
  // for each tap.
  void Turn(std::vector<Stage>* before) {
    const bool constant = whole_.group().graph().IsConstant(filters_);
    filters_ = Turned(filters_, 1, channels() * filters(), Pixels(&ConvolutionSizes::Axis::kernel),
                      constant ? &shape_.prepacks : before);
    image_ = Turned(image_, sizes().images, channels(), Pixels(&ConvolutionSizes::Axis::image), before);
    if (Pixels(&ConvolutionSizes::Axis::out) > 1 && filters() > 1)
      result_ = NewBuffer(sizes().images * padded_.out_image());
  }

  // Another nest, as a nest has no stages behind its tiles.
  void TurnBack() {
    if (result_ == whole_.fused().result) return;
    LoopNest nest;
    nest.batch = sizes().images;
    Stage stage;
    stage.kind = StageKind::kTranspose;
    stage.copy.height = Pixels(&ConvolutionSizes::Axis::out);
    stage.copy.width = filters();
    stage.operands = {{result_, 0, padded_.out_image(), 0},
                      {whole_.fused().result, 0, padded_.out_image(), 0}};
    nest.stages = {std::move(stage)};
    shape_.nests.push_back(std::move(nest));
  }

  void Pad(std::vector<Stage>* before) {
    const AxisOptions& along = padded_.options_along();
    Stage stage = PadStage(padded_, padded_.along().image, along.before, along.after);
    (has_depth() ? stage.copy.images : stage.copy.planes) *= sizes().images;
    stage.operands = {{image_, 0, 0, 0}, {next_value_, 0, 0, 0}};
    image_ = NewBuffer(stage.copy.padded_elements());
    before->push_back(std::move(stage));
  }

  // A nest for the pixels of depth and height that all phases have, and nests for those that some have
  // beside.
  void AddNests(std::vector<Stage>* before) {
    for (bool deeper : {false, true})
      for (bool longer : {false, true}) {
        const int64_t slices = deeper ? (Longer(ImageAxes::kDepth) > 0 ? 1 : 0) : InAll(ImageAxes::kDepth),
                      rows = longer ? (Longer(ImageAxes::kHeight) > 0 ? 1 : 0) : InAll(ImageAxes::kHeight);
        if (slices == 0 || rows == 0) continue;
        LoopNest nest;
        nest.batch = has_depth() ? slices : sizes().images;
        nest.rows = rows;
        nest.stages = Stages(deeper, longer, before);
        if (in_loops_) nest.stages = InLoops(std::move(nest.stages));
        shape_.nests.push_back(std::move(nest));
      }
  }

  // The matmuls for one row of each phase.
  std::vector<Stage> Stages(bool deeper, bool longer, std::vector<Stage>* before) {
    const auto phases = [&](size_t axis, bool rest) { return rest ? Longer(axis) : stride(axis); };
    std::vector<Stage> stages;
    for (int64_t d = 0; d < phases(ImageAxes::kDepth, deeper); ++d)
      for (int64_t h = 0; h < phases(ImageAxes::kHeight, longer); ++h)
        for (int64_t w = 0; w < std::min<int64_t>(stride(ImageAxes::kWidth), width().out); ++w) {
          const Numbers skipped = {deeper ? InAll(ImageAxes::kDepth) : 0,
                                   longer ? InAll(ImageAxes::kHeight) : 0, 0};
          AddPhase({d, h, w}, skipped, before, &stages);
        }
    return stages;
  }

  const ConvolutionSizes::Axis& width() const { return sizes().axes[ImageAxes::kWidth]; }

  // Adds the matmuls of the phase whose first pixel is `first`, from its `skipped`-th row on.
  void AddPhase(const Numbers& first, const Numbers& skipped, std::vector<Stage>* before,
                std::vector<Stage>* stages) {
    std::array<PhaseAlong, ImageAxes::kCount> phase = {};
    Numbers steps = {};  // elements of the output from one pixel of the phase to the next
    int64_t taps = 1, out = 0, out_pitch = filters();
    for (size_t axis = phase.size(); axis-- > 0;) {
      phase[axis] = Phase(axis, first[axis]);
      taps *= phase[axis].taps;
      out += (first[axis] + skipped[axis] * stride(axis)) * out_pitch;
      steps[axis] = stride(axis) * out_pitch;
      out_pitch *= sizes().axes[axis].out;
    }
    const StageOperand result = OperandOf(result_, out, steps, out_pitch);
    if (taps == 0)
      return stages->push_back(
          Matmul(ZerosFor(phase[ImageAxes::kWidth].count, before), result, phase[ImageAxes::kWidth].count));
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t rest = tap, in = 0, pitch = channels(), of_kernel = 0, kernel_pitch = 1;
      Numbers pitches = {};
      for (size_t axis = phase.size(); axis-- > 0;) {
        const int64_t t = rest % phase[axis].taps;
        rest /= phase[axis].taps;
        const int64_t pixel = phase[axis].in + skipped[axis] - t * phase[axis].dilation +
                              int64_t{padded_node_.conv.axes[axis].before};
        in += pixel * pitch;
        of_kernel += (phase[axis].tap + t * phase[axis].apart) * kernel_pitch;
        pitches[axis] = pitch;
        pitch *= padded_.padded(axis);
        kernel_pitch *= sizes().axes[axis].kernel;
      }
      const StageOperand image = OperandOf(image_, in, pitches, pitch);
      const StageOperand matrix{filters_, of_kernel * channels() * filters(), 0, 0};
      stages->push_back(Matmul({image, matrix, channels()}, result, phase[ImageAxes::kWidth].count, tap > 0,
                               tap + 1 == taps));
    }
  }

  // The part of the image or of the output that the nest's first item meets. `steps`: from one pixel to the
  // next along each axis; `image`: from one image to the next. Images with a depth are repeats, as the items
  // are slices.
  StageOperand OperandOf(int value, int64_t offset, const Numbers& steps, int64_t image) const {
    const int64_t row = steps[ImageAxes::kHeight];
    if (!has_depth()) return {value, offset, image, row};
    return {value, offset, steps[ImageAxes::kDepth], row, sizes().images > 1 ? image : 0};
  }

  struct Factors {
    StageOperand image, matrix;
    int64_t terms = 1;
  };

  // Factors of a sum that is 0: a column and a row of zeros, behind an element of a copy.
  Factors ZerosFor(int64_t pixels, std::vector<Stage>* before) {
    if (zeros_ < 0) {
      Stage stage;
      stage.kind = StageKind::kPad;
      stage.copy.width = 1;
      stage.copy.after = std::max(width().out, sizes().filters);
      stage.operands = {{image_, 0, 0, 0}, {next_value_, 0, 0, 0}};
      zeros_ = NewBuffer(stage.copy.padded_elements());
      before->push_back(std::move(stage));
    }
    KIRSCH_CHECK(pixels <= width().out);
    return {{zeros_, 1, 0, 0}, {zeros_, 1, 0, 0}, 1};
  }

  // out (+)= image * matrix, for `pixels` pixels of a phase's row.
  Stage Matmul(const Factors& factors, const StageOperand& result, int64_t pixels, bool accumulate = false,
               bool last = true) const {
    Spec asked;
    const auto narrow = [](int64_t value) { return static_cast<uint32_t>(value); };
    asked.op = OpWith(last ? whole_.fused().epilogue : Epilogue{});
    asked.accumulate = accumulate;
    asked.size = {1, narrow(pixels), narrow(factors.terms), narrow(filters())};
    SetMatrix(Dtype::kF32, Order::kRow, narrow(factors.terms), 0, &asked);
    SetMatrix(Dtype::kF32, Order::kRow, narrow(filters()), 1, &asked);
    SetMatrix(whole_.stored(), Order::kRow, narrow(stride(ImageAxes::kWidth) * filters()), 2, &asked);
    Stage stage = ContractionStage(asked, {factors.image, factors.matrix, result});
    if (has_depth()) stage.repeats = sizes().images;
    if (last) whole_.AddEpilogueOperands(result, &stage);
    return stage;
  }

  // Makes one stage of neighbours that differ only in where their operands begin, by as much from each to the
  // next. It repeats them in their order.
  static std::vector<Stage> InLoops(std::vector<Stage> stages) {
    std::vector<Stage> joined;
    for (Stage& stage : stages) {
      if (!joined.empty() && Follows(joined.back(), stage)) {
        Stage& loop = joined.back();
        for (size_t i = 0; i < loop.operands.size(); ++i)
          loop.operands[i].repeat_stride =
              (stage.operands[i].offset - loop.operands[i].offset) / loop.repeats;
        ++loop.repeats;
      } else {
        joined.push_back(std::move(stage));
      }
    }
    return joined;
  }

  // True if the stage may be the next repeat of `loop`.
  static bool Follows(const Stage& loop, const Stage& stage) {
    if (loop.spec != stage.spec || loop.operands.size() != stage.operands.size() || stage.repeats > 1)
      return false;
    for (size_t i = 0; i < loop.operands.size(); ++i) {
      const StageOperand &before = loop.operands[i], &next = stage.operands[i];
      if (before.value != next.value || before.batch_stride != next.batch_stride ||
          before.row_stride != next.row_stride)
        return false;
      if (loop.repeats > 1 && next.offset - before.offset != loop.repeats * before.repeat_stride)
        return false;
    }
    return true;
  }

  const FusedConvolution& whole_;
  const GraphNode& node_;
  const GraphNode padded_node_;
  const ConvolutionNode padded_;
  int next_value_;  // of the next buffer
  const bool in_loops_;
  int image_ = -1, filters_ = -1, result_ = -1;  // as the matmuls read and write them
  int zeros_ = -1;
  GroupShape shape_;
};

bool Applies(const GroupProblem& problem) {
  return IsTransposedConvolution(problem.group.graph().at(problem.group.at(0)).op);
}

// Each matmul by itself, so that a constant tap is packed ahead; then in loops.
std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const FusedConvolution whole(problem.group);
  const size_t matmuls = TransposedShaper(whole, {}).Matmuls();
  std::vector<RewriteParameters> all;
  if (matmuls <= kMostAlone) all.push_back({0});
  if (matmuls > 1) all.push_back({1});
  return all;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution whole(problem.group);
  return TransposedShaper(whole, form).Shape(problem);
}

}  // namespace

const GraphRewrite kTransposedConvolution = {"transposed", {"loops"}, Applies, Enumerate, Expand};

}  // namespace kirsch
