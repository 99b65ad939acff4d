// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/loops/loops_writer.h"
#include "spec/graph/types.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Prints contractions: loops of a form that suits the layout, or a call of sgemm.
class ContractionPrinter {
 public:
  explicit ContractionPrinter(LoopsWriter& writer)
      : writer_(writer), graph_(writer.graph()), kind_(writer.kind()) {}

  void Compute(int node) {
    graph_.at(node).op == Operation::kMatmul ? ComputeMatmul(node) : ComputeConvolution(node);
  }

 private:
  // Sums of floats are `real`, all others are s32.
  std::string SumType(int node) const { return IsFloating(graph_.at(node).type.dtype) ? "real" : "int32_t"; }

  // A row of the output at a time. Its columns are the inner loop, unless they are not contiguous in rhs.
  void ComputeMatmul(int node) {
    const GraphNode& of = graph_.at(node);
    const int lhs = of.inputs[0], rhs = of.inputs[1];
    const size_t rank = of.type.dims.size();
    // Other types than f32 are loops in either kind.
    if (kind_ == LoopsKind::kCblas && IsF32(lhs) && IsF32(rhs)) return CallMatmul(node);
    const uint32_t k = graph_.at(lhs).type.dims.back(), n = of.type.dims.back();
    Names row = writer_.OpenLoops(of.type.dims, rank - 1);
    Names batch(row.begin(), row.end() - 1);
    const auto with = [](Names index, std::initializer_list<const char*> more) {
      for (const char* name : more) index.emplace_back(name);
      return index;
    };
    const std::string out = writer_.Element(writer_.ViewOf(node), with(row, {"j"}));
    Names left = SharedBatch(of, 0, batch);
    left.push_back(row.back());
    const std::string a = writer_.Value(lhs, with(left, {"k"})),
                      b = writer_.Value(rhs, with(SharedBatch(of, 1, batch), {"k", "j"}));
    const bool dot =
        n > 1 && writer_.ViewOf(rhs).strides.back() != 1;  // a column of the rhs is what is contiguous
    // Dot products along the reduction, along which rhs is contiguous.
    if (dot || n == 1) {
      writer_.Open(writer_.For("j", n));
      writer_.Line(Cat(SumType(node), " sum = 0;"));
      writer_.Line(Cat(writer_.For("k", k), " sum += ", a, " * ", b, ";"));
      writer_.Line(Cat(out, " = sum;"));
    } else {
      writer_.Line(Cat(writer_.For("j", n), " ", out, " = 0;"));
      // The element of lhs is the same for all columns, so it is loaded once.
      writer_.Open(writer_.For("k", k));
      writer_.Line(Cat("const ", SumType(node), " a = ", a, ";"));
      writer_.Vectors();
      writer_.Line(Cat(writer_.For("j", n), " ", out, " += a * ", b, ";"));
    }
    writer_.Close(2);
  }

  // Returns the batch's indices in an operand. Several matrices of the result may share one of the operand.
  Names SharedBatch(const GraphNode& of, size_t input, Names batch) const {
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      const uint32_t own = graph_.at(of.inputs[input]).type.dims[axis], sharers = of.type.dims[axis] / own;
      if (sharers > 1) batch[axis] = own == 1 ? "0" : Cat("(", batch[axis], ") / ", sharers);
    }
    return batch;
  }

  bool IsF32(int node) const { return graph_.at(node).type.dtype == Dtype::kF32; }

  // Arguments of sgemm: whether it is transposed, a pointer, and its leading dimension.
  struct Matrix {
    std::string trans, pointer, ld;
  };
  // Returns the matrix of the last two axes, at the batch's indices. A transposed view becomes a flag of
  // sgemm.
  Matrix MatrixOf(int node, const Names& batch) const {
    const LoopsWriter::View view = writer_.ViewOf(node);
    const size_t rank = view.strides.size();
    Names index = batch;
    index.resize(rank, "0");
    const bool transposed =
        graph_.at(node).op == Operation::kTranspose && view.strides[rank - 2] < view.strides[rank - 1];
    return {transposed ? "112" : "111", Cat("&", writer_.Element(view, index)),
            Cat(view.strides[transposed ? rank - 1 : rank - 2])};
  }

  // 101 is row-major; 111 and 112 in a Matrix are plain and transposed.
  void CallSgemm(int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b, const Matrix& c) {
    writer_.Line(Cat("sgemm(101, ", a.trans, ", ", b.trans, ", ", m, ", ", n, ", ", k, ", 1, ", a.pointer,
                     ", ", a.ld, ", ", b.pointer, ", ", b.ld, ", 0, ", c.pointer, ", ", c.ld, ");"));
  }

  // A call for each matrix of the batch.
  void CallMatmul(int node) {
    const GraphNode& of = graph_.at(node);
    const size_t rank = of.type.dims.size();
    Names batch(rank - 2, "0");
    for (size_t axis = 0; axis + 2 < rank; ++axis) {
      batch[axis] = Cat("i", axis);
      writer_.Line(writer_.For(batch[axis], of.type.dims[axis]));
    }
    CallSgemm(of.type.dims[rank - 2], of.type.dims[rank - 1], graph_.at(of.inputs[0]).type.dims.back(),
              MatrixOf(of.inputs[0], SharedBatch(of, 0, batch)),
              MatrixOf(of.inputs[1], SharedBatch(of, 1, batch)), MatrixOf(node, batch));
  }

  // --- Convolutions.

  // A convolution as the printer needs it.
  struct Convolution {
    const GraphNode& node;
    ConvolutionSizes sizes;
    uint32_t in_group, out_group;  // channels and filters of each group
    bool nhwc;

    // Axes that the images have, the last of ImageAxes.
    size_t axes() const { return Info(node.op).image_axes; }
    const ConvolutionSizes::Axis& along(size_t axis) const { return sizes.axes[InAll(axis)]; }
    const AxisOptions& options(size_t axis) const { return node.conv.axes[InAll(axis)]; }
    bool transposed() const { return IsTransposedConvolution(node.op); }
    // Returns the name of an index: "kh" of "k" and the axis h.
    std::string Index(const char* what, size_t axis) const {
      return Cat(what, std::string_view("dhw").substr(InAll(axis), 1));
    }
    // Returns the indices of an element of an image: the item, and the channel first or last.
    Names OfImage(Names pixel, const std::string& item, const std::string& channel) const {
      pixel.insert(nhwc ? pixel.end() : pixel.begin(), channel);
      pixel.insert(pixel.begin(), item);
      return pixel;
    }
    // Indices along all axes: {"kh", "kw"}.
    Names Indices(const char* what) const {
      Names names;
      for (size_t axis = 0; axis < axes(); ++axis) names.push_back(Index(what, axis));
      return names;
    }

   private:
    // Numbers among the axes d, h, w: an image of two axes has the last two.
    size_t InAll(size_t axis) const { return ImageAxes::kCount - axes() + axis; }
  };

  Convolution Describe(int node) const {
    const GraphNode& of = graph_.at(node);
    const ConvolutionSizes sizes = SizesOfConvolution(graph_, of);
    return {of, sizes, sizes.channels / of.conv.groups, sizes.filters / of.conv.groups,
            of.conv.layout == ImageLayout::kNhwc};
  }

  // The pixel that a tap sees, which may lie beyond the image: "(oh) * 2 + kh * 1 - 1" of stride 2 and
  // padding 1. Of a transposed convolution, as many strides from the image's first pixel.
  static std::string PixelOf(const Convolution& c, size_t axis, const std::string& out) {
    const AxisOptions& options = c.options(axis);
    if (c.transposed())
      return absl::StrFormat("(%s) + %d - %s * %d", out, options.before, c.Index("k", axis),
                             options.dilation);
    return absl::StrFormat("(%s) * %d + %s * %d - %d", out, options.stride, c.Index("k", axis),
                           options.dilation, options.before);
  }
  // Defines "ih", the pixel that a tap sees.
  void DefinePixel(const Convolution& c, size_t axis, const std::string& out) {
    writer_.Line(Cat("const ptrdiff_t ", c.Index("i", axis), " = ", PixelOf(c, axis, out), ";"));
  }
  // Opens the loop over the taps along an axis. Taps that see no pixel are left out.
  void OpenTaps(const Convolution& c, size_t axis, const std::string& out) {
    const std::string pixel = c.Index("i", axis);
    writer_.Open(writer_.For(c.Index("k", axis), c.along(axis).kernel));
    if (c.transposed()) {
      const uint32_t stride = c.options(axis).stride;
      writer_.Line(Cat("const ptrdiff_t strides = ", PixelOf(c, axis, out), ";"));
      writer_.Line(Cat("const ptrdiff_t ", pixel, " = strides / ", stride, ";"));
      writer_.Line(absl::StrFormat("if (strides < 0 || strides %% %d != 0) continue;", stride));
    } else {
      DefinePixel(c, axis, out);
    }
    writer_.Line(absl::StrFormat("if (%s < 0 || %s >= %d) continue;", pixel, pixel, c.along(axis).image));
  }

  // Chooses among the three forms. sgemm is of no use where each filter is a group of its own.
  void ComputeConvolution(int node) {
    const Convolution c = Describe(node);
    // Filters that are a transposed view are left to the loops.
    const bool plain_filters = graph_.at(c.node.inputs[1]).op != Operation::kTranspose;
    const bool blocks = ChannelBlock(c.node.conv.layout) != 0;
    if (kind_ == LoopsKind::kCblas && c.out_group > 1 && plain_filters && !c.transposed() && !blocks)
      return CallConvolution(node, c);
    if (blocks) return ConvolveBlocks(node, c);
    if (c.transposed() && !c.nhwc) return ConvolveElements(node, c);
    c.nhwc ? ConvolveFilters(node, c) : ConvolveRows(node, c);
  }

  // Prints a transposed convolution of nchw, element by element: neighbours meet other taps.
  void ConvolveElements(int node, const Convolution& c) {
    const Names index = writer_.OpenLoops(c.node.type.dims, c.axes() + 2);
    writer_.Line("real sum = 0;");
    for (size_t axis = 0; axis < c.axes(); ++axis) OpenTaps(c, axis, index[axis + 2]);
    Names taps = c.Indices("k");
    taps.insert(taps.begin(), {"c", index[1]});
    writer_.Line(Cat(writer_.For("c", c.in_group),
                     " sum += ", writer_.Value(c.node.inputs[0], c.OfImage(c.Indices("i"), index[0], "c")),
                     " * ", writer_.Value(c.node.inputs[1], taps), ";"));
    writer_.Close(c.axes());
    writer_.Line(Cat(writer_.Element(writer_.ViewOf(node), index), " = sum;"));
    writer_.Close(1);
  }

  // Prints a convolution of nhwc. All filters of one pixel are the inner loop, as they are contiguous.
  void ConvolveFilters(int node, const Convolution& c) {
    const Names pixel = writer_.OpenLoops(c.node.type.dims, c.axes() + 1);
    const auto out = [&](const std::string& f) {
      Names index = pixel;
      index.push_back(f);
      return writer_.Element(writer_.ViewOf(node), index);
    };
    const auto image = [&](const std::string& channel) {
      return writer_.Value(c.node.inputs[0], c.OfImage(c.Indices("i"), pixel[0], channel));
    };
    const auto filter = [&](const std::string& f) {
      Names index = c.Indices("k");
      index.insert(index.end(), {"c", f});
      return writer_.Value(c.node.inputs[1], index);
    };
    writer_.Line(Cat(writer_.For("f", c.sizes.filters), " ", out("f"), " = 0;"));
    for (size_t axis = 0; axis < c.axes(); ++axis) OpenTaps(c, axis, pixel[axis + 1]);
    // Each filter has channels of its own, so filters and groups are one loop.
    if (c.out_group == 1) {
      writer_.Open(writer_.For("c", c.in_group));
      writer_.Vectors();
      writer_.Line(Cat(writer_.For("f", c.sizes.filters), " ", out("f"),
                       " += ", image(Cat("f * ", c.in_group, " + c")), " * ", filter("f"), ";"));
      return writer_.Close(c.axes() + 2);
    }
    writer_.Line(writer_.For("g", c.node.conv.groups));
    writer_.Open(writer_.For("c", c.in_group));
    writer_.Line(Cat("const real a = ", image(Cat("g * ", c.in_group, " + c")), ";"));
    writer_.Vectors();
    const std::string f = Cat("g * ", c.out_group, " + f");
    writer_.Line(Cat(writer_.For("f", c.out_group), " ", out(f), " += a * ", filter(f), ";"));
    writer_.Close(c.axes() + 2);
  }

  // Prints a convolution of channels in blocks. The filters of one block are the inner loop.
  void ConvolveBlocks(int node, const Convolution& c) {
    const uint32_t block = ChannelBlock(c.node.conv.layout);
    const Names pixel = writer_.OpenLoops(c.node.type.dims, c.axes() + 2);
    Names out = pixel, image = c.Indices("i"), filter = c.Indices("k");
    out.push_back("f");
    const std::string sum = writer_.Element(writer_.ViewOf(node), out);
    const bool depthwise = c.in_group == 1;
    const std::string blocks =
        absl::StrFormat("%s * %d / %d * %d", pixel[1], block, c.out_group, c.in_group / block);
    image.insert(image.begin(), {pixel[0], depthwise ? pixel[1] : Cat(blocks, " + c / ", block)});
    image.push_back(depthwise ? "f" : Cat("c % ", block));
    filter.insert(filter.begin(), {pixel[1], depthwise ? "0" : Cat("c / ", block)});
    filter.insert(filter.end(), {depthwise ? "0" : Cat("c % ", block), "f"});
    writer_.Line(Cat(writer_.For("f", block), " ", sum, " = 0;"));
    for (size_t axis = 0; axis < c.axes(); ++axis) OpenTaps(c, axis, pixel[axis + 2]);
    writer_.Open(writer_.For("c", c.in_group));
    writer_.Vectors();
    writer_.Line(Cat(writer_.For("f", block), " ", sum, " += ", writer_.Value(c.node.inputs[0], image), " * ",
                     writer_.Value(c.node.inputs[1], filter), ";"));
    writer_.Close(c.axes() + 2);
  }

  // Prints a convolution of nchw. A row of pixels of one filter is the inner loop, as it is contiguous.
  void ConvolveRows(int node, const Convolution& c) {
    const Names row = writer_.OpenLoops(c.node.type.dims, c.axes() + 1);
    const size_t width = c.axes() - 1;
    Names index = row;
    index.emplace_back("j");
    const std::string out = writer_.Element(writer_.ViewOf(node), index);
    writer_.Line(Cat(writer_.For("j", c.along(width).out), " ", out, " = 0;"));
    writer_.Line(writer_.For("c", c.in_group));
    for (size_t axis = 0; axis < width; ++axis) OpenTaps(c, axis, row[axis + 2]);
    writer_.Open(writer_.For("kw", c.along(width).kernel));
    const AxisOptions& options = c.options(width);
    // The columns of the output whose tap is within the image: from `low` up to `high`. So the inner loop has
    // no branch.
    writer_.Line(absl::StrFormat("const ptrdiff_t first = %d - kw * %d, last = first + %d;", options.before,
                                 options.dilation, c.along(width).image - 1));
    writer_.Line(absl::StrFormat("const ptrdiff_t low = first > 0 ? (first + %d) / %d : 0;",
                                 options.stride - 1, options.stride));
    writer_.Line(
        absl::StrFormat("const ptrdiff_t end = last < 0 ? 0 : last / %d + 1, high = end < %d ? end : %d;",
                        options.stride, c.along(width).out, c.along(width).out));
    Names taps = c.Indices("k");
    taps.insert(taps.begin(), {row[1], "c"});
    writer_.Line(Cat("const real a = ", writer_.Value(c.node.inputs[1], taps), ";"));
    writer_.Vectors();
    const std::string channel = absl::StrFormat("(%s) / %d * %d + c", row[1], c.out_group, c.in_group);
    Names pixel = c.Indices("i");
    pixel.back() = PixelOf(c, width, "j");
    writer_.Line(Cat("for (ptrdiff_t j = low; j < high; ++j) ", out, " += a * ",
                     writer_.Value(c.node.inputs[0], c.OfImage(pixel, row[0], channel)), ";"));
    writer_.Close(c.axes() + 1);
  }

  // Prints a convolution as a product of matrices: of the image as a matrix of what each tap sees of it, and
  // the filters.
  void CallConvolution(int node, const Convolution& c) {
    int64_t pixels = 1, taps = c.in_group;
    bool as_it_is = graph_.at(c.node.inputs[0]).op != Operation::kTranspose;
    for (size_t axis = 0; axis < c.axes(); ++axis) {
      pixels *= c.along(axis).out;
      taps *= c.along(axis).kernel;
      as_it_is &= c.along(axis).kernel == 1 && c.options(axis).stride == 1 && !c.options(axis).padded();
    }
    // A kernel of one tap with stride 1 sees the image as it is, which needs no copy.
    const std::string columns = Cat("columns", node);
    if (!as_it_is) writer_.DeclareColumns(columns, static_cast<size_t>(pixels * taps));
    // A product for each image and group.
    writer_.Line(writer_.For("n", c.sizes.images));
    writer_.Open(writer_.For("g", c.node.conv.groups));
    if (!as_it_is) c.nhwc ? FillColumnsOfPixels(columns, c, taps) : FillColumnsOfTaps(columns, c);
    // Pointers to the first element of the group's channels and filters.
    const LoopsWriter::View image = writer_.ViewOf(c.node.inputs[0]),
                            filters = writer_.ViewOf(c.node.inputs[1]), out = writer_.ViewOf(node);
    const std::string channel = Cat("g * ", c.in_group), filter = Cat("g * ", c.out_group);
    const Names first(c.axes(), "0");
    const std::string from = Cat("&", writer_.Element(image, c.OfImage(first, "n", channel))),
                      to = Cat("&", writer_.Element(out, c.OfImage(first, "n", filter)));
    Names of_filters(c.axes() + 2, "0");
    (c.nhwc ? of_filters.back() : of_filters.front()) = filter;
    const std::string weights = Cat("&", writer_.Element(filters, of_filters));
    // With nhwc the pixels are the rows of the product, with nchw the filters are.
    if (c.nhwc) {
      const Matrix lhs =
          as_it_is ? Matrix{"111", from, Cat(c.sizes.channels)} : Matrix{"111", columns, Cat(taps)};
      CallSgemm(pixels, c.out_group, taps, lhs, {"111", weights, Cat(c.sizes.filters)},
                {"111", to, Cat(c.sizes.filters)});
    } else {
      CallSgemm(c.out_group, pixels, taps, {"111", weights, Cat(taps)},
                {"111", as_it_is ? from : columns, Cat(pixels)}, {"111", to, Cat(pixels)});
    }
    writer_.Close();
  }

  // The condition that a tap sees a pixel.
  std::string Inside(const Convolution& c) const {
    Names conditions;
    for (size_t axis = 0; axis < c.axes(); ++axis) {
      const std::string pixel = c.Index("i", axis);
      conditions.push_back(absl::StrFormat("%s >= 0 && %s < %d", pixel, pixel, c.along(axis).image));
    }
    return absl::StrJoin(conditions, " && ");
  }

  // Appends so many axes to an index, row by row: "((c * 3 + kh) * 3 + kw)".
  static std::string Follow(std::string index, const Convolution& c, const char* what, size_t count) {
    for (size_t axis = 0; axis < count; ++axis)
      index = absl::StrFormat("(%s * %d + %s)", index,
                              *what == 'k' ? c.along(axis).kernel : c.along(axis).out, c.Index(what, axis));
    return index;
  }

  // Prints the copy for nhwc: a row for each pixel, all channels of a tap side by side.
  void FillColumnsOfPixels(const std::string& columns, const Convolution& c, int64_t taps) {
    const size_t axes = c.axes();
    // The copy is part of every call, so threads share it as well.
    if (writer_.parallel()) writer_.Line(absl::StrFormat("#pragma omp parallel for collapse(%d)", axes));
    for (size_t axis = 0; axis + 1 < axes; ++axis)
      writer_.Line(writer_.For(c.Index("o", axis), c.along(axis).out));
    writer_.Open(writer_.For("ow", c.along(axes - 1).out));
    writer_.Line(absl::StrFormat("float* to = %s + %s * %d;", columns, Follow("0", c, "o", axes), taps));
    for (size_t axis = 0; axis < axes; ++axis) {
      writer_.Open(writer_.For(c.Index("k", axis), c.along(axis).kernel));
      DefinePixel(c, axis, c.Index("o", axis));
    }
    const std::string loop = writer_.For("c", c.in_group);
    const std::string channel = Cat("g * ", c.in_group, " + c");
    writer_.Line(Cat("if (", Inside(c), ") ", loop, " to[c] = ",
                     writer_.Value(c.node.inputs[0], c.OfImage(c.Indices("i"), "n", channel)), ";"));
    writer_.Line(Cat("else ", loop, " to[c] = 0;"));
    writer_.Line(Cat("to += ", c.in_group, ";"));
    writer_.Close(axes + 1);
  }

  // Prints the copy for nchw: a row for each channel and tap, with all pixels.
  void FillColumnsOfTaps(const std::string& columns, const Convolution& c) {
    const size_t width = c.axes() - 1;
    if (writer_.parallel()) writer_.Line("#pragma omp parallel for");
    writer_.Line(writer_.For("c", c.in_group));
    for (size_t axis = 0; axis < width; ++axis)
      writer_.Line(writer_.For(c.Index("k", axis), c.along(axis).kernel));
    writer_.Open(writer_.For("kw", c.along(width).kernel));
    for (size_t axis = 0; axis < width; ++axis) {
      writer_.Open(writer_.For(c.Index("o", axis), c.along(axis).out));
      DefinePixel(c, axis, c.Index("o", axis));
    }
    writer_.Line(absl::StrFormat("float* to = %s + %s * %d;", columns,
                                 Follow(Follow("c", c, "k", c.axes()), c, "o", width), c.along(width).out));
    writer_.Open(writer_.For("ow", c.along(width).out));
    DefinePixel(c, width, "ow");
    const std::string channel = Cat("g * ", c.in_group, " + c");
    writer_.Line(Cat("to[ow] = ", Inside(c), " ? ",
                     writer_.Value(c.node.inputs[0], c.OfImage(c.Indices("i"), "n", channel)), " : 0;"));
    writer_.Close(c.axes() + 1);
  }

  LoopsWriter& writer_;
  const Graph& graph_;
  const LoopsKind kind_;
};

}  // namespace

void ComputeContraction(LoopsWriter& writer, int node) { ContractionPrinter(writer).Compute(node); }

}  // namespace kirsch
