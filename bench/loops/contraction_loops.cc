// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <initializer_list>

#include "absl/strings/str_format.h"
#include "bench/loops/loops_writer.h"
#include "spec/graph/types.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

class ContractionPrinter {
 public:
  explicit ContractionPrinter(LoopsWriter& writer)
      : writer_(writer), graph_(writer.graph()), kind_(writer.kind()) {}

  void Compute(int node) {
    graph_.at(node).op == Operation::kMatmul ? ComputeMatmul(node) : ComputeConvolution(node);
  }

 private:
  std::string SumType(int node) const { return IsFloating(graph_.at(node).type.dtype) ? "real" : "int32_t"; }

  void ComputeMatmul(int node) {
    const GraphNode& of = graph_.at(node);
    const int lhs = of.inputs[0], rhs = of.inputs[1];
    const size_t rank = of.type.dims.size();
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
    if (dot || n == 1) {
      writer_.Open(writer_.For("j", n));
      writer_.Line(Cat(SumType(node), " sum = 0;"));
      writer_.Line(Cat(writer_.For("k", k), " sum += ", a, " * ", b, ";"));
      writer_.Line(Cat(out, " = sum;"));
    } else {
      writer_.Line(Cat(writer_.For("j", n), " ", out, " = 0;"));
      writer_.Open(writer_.For("k", k));
      writer_.Line(Cat("const ", SumType(node), " a = ", a, ";"));
      writer_.Vectors();
      writer_.Line(Cat(writer_.For("j", n), " ", out, " += a * ", b, ";"));
    }
    writer_.Close(2);
  }

  // The batch's indices in an operand, whose matrices several of the result's may share.
  Names SharedBatch(const GraphNode& of, size_t input, Names batch) const {
    const int64_t sharers = ItemsPerMatrix(graph_, of, input);
    if (sharers > 1) batch.back() = Cat("(", batch.back(), ") / ", sharers);
    return batch;
  }

  bool IsF32(int node) const { return graph_.at(node).type.dtype == Dtype::kF32; }

  struct Matrix {
    std::string trans, pointer, ld;
  };
  // The matrix of the last two axes, the batch's indices before.
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

  void CallSgemm(int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b, const Matrix& c) {
    writer_.Line(Cat("sgemm(101, ", a.trans, ", ", b.trans, ", ", m, ", ", n, ", ", k, ", 1, ", a.pointer,
                     ", ", a.ld, ", ", b.pointer, ", ", b.ld, ", 0, ", c.pointer, ", ", c.ld, ");"));
  }

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

  struct Convolution {
    const GraphNode& node;
    ConvolutionSizes sizes;
    uint32_t in_group, out_group;  // channels and filters of each group
    bool nhwc;
  };

  Convolution Describe(int node) const {
    const GraphNode& of = graph_.at(node);
    const ConvolutionSizes sizes = SizesOfConvolution(graph_, of);
    return {of, sizes, sizes.channels / of.conv.groups, sizes.filters / of.conv.groups,
            of.conv.layout == ImageLayout::kNhwc};
  }

  // Opens loops over the taps of the kernel; `ih` is the row of the image.
  void OpenRow(const Convolution& c, const std::string& oh) {
    writer_.Open(writer_.For("kh", c.sizes.kernel_height));
    writer_.Line(absl::StrFormat("const ptrdiff_t ih = (%s) * %d + kh * %d - %d;", oh, c.node.conv.stride,
                                 c.node.conv.dilation, c.node.conv.pad.top));
  }
  static std::string Column(const Convolution& c, const std::string& ow) {
    return absl::StrFormat("(%s) * %d + kw * %d - %d", ow, c.node.conv.stride, c.node.conv.dilation,
                           c.node.conv.pad.left);
  }
  void SkipOutside(const std::string& index, uint32_t side) {
    writer_.Line(absl::StrFormat("if (%s < 0 || %s >= %d) continue;", index, index, side));
  }

  void ComputeConvolution(int node) {
    const Convolution c = Describe(node);
    const bool plain_filters = graph_.at(c.node.inputs[1]).op != Operation::kTranspose;
    if (kind_ == LoopsKind::kCblas && c.out_group > 1 && plain_filters) return CallConvolution(node, c);
    c.nhwc ? ConvolveFilters(node, c) : ConvolveRows(node, c);
  }

  // The filters of one pixel at a time; where each has channels of its own, the groups.
  void ConvolveFilters(int node, const Convolution& c) {
    const Names pixel = writer_.OpenLoops(c.node.type.dims, 3);
    const auto out = [&](const std::string& f) {
      return writer_.Element(writer_.ViewOf(node), {pixel[0], pixel[1], pixel[2], f});
    };
    const auto image = [&](const std::string& channel) {
      return writer_.Value(c.node.inputs[0], {pixel[0], "ih", "iw", channel});
    };
    const auto filter = [&](const std::string& f) {
      return writer_.Value(c.node.inputs[1], {"kh", "kw", "c", f});
    };
    writer_.Line(Cat(writer_.For("f", c.sizes.filters), " ", out("f"), " = 0;"));
    OpenRow(c, pixel[1]);
    SkipOutside("ih", c.sizes.height);
    writer_.Open(writer_.For("kw", c.sizes.kernel_width));
    writer_.Line(Cat("const ptrdiff_t iw = ", Column(c, pixel[2]), ";"));
    SkipOutside("iw", c.sizes.width);
    if (c.out_group == 1) {
      writer_.Open(writer_.For("c", c.in_group));
      writer_.Vectors();
      writer_.Line(Cat(writer_.For("f", c.sizes.filters), " ", out("f"),
                       " += ", image(Cat("f * ", c.in_group, " + c")), " * ", filter("f"), ";"));
      return writer_.Close(4);
    }
    writer_.Line(writer_.For("g", c.node.conv.groups));
    writer_.Open(writer_.For("c", c.in_group));
    writer_.Line(Cat("const real a = ", image(Cat("g * ", c.in_group, " + c")), ";"));
    writer_.Vectors();
    const std::string f = Cat("g * ", c.out_group, " + f");
    writer_.Line(Cat(writer_.For("f", c.out_group), " ", out(f), " += a * ", filter(f), ";"));
    writer_.Close(4);
  }

  // One row of pixels of one filter at a time.
  void ConvolveRows(int node, const Convolution& c) {
    const Names row = writer_.OpenLoops(c.node.type.dims, 3);
    const std::string out = writer_.Element(writer_.ViewOf(node), {row[0], row[1], row[2], "j"});
    writer_.Line(Cat(writer_.For("j", c.sizes.out_width), " ", out, " = 0;"));
    writer_.Line(writer_.For("c", c.in_group));
    OpenRow(c, row[2]);
    SkipOutside("ih", c.sizes.height);
    writer_.Open(writer_.For("kw", c.sizes.kernel_width));
    const uint32_t stride = c.node.conv.stride;
    // Columns within the image.
    writer_.Line(absl::StrFormat("const ptrdiff_t first = %d - kw * %d, last = first + %d;",
                                 c.node.conv.pad.left, c.node.conv.dilation, c.sizes.width - 1));
    writer_.Line(
        absl::StrFormat("const ptrdiff_t low = first > 0 ? (first + %d) / %d : 0;", stride - 1, stride));
    writer_.Line(
        absl::StrFormat("const ptrdiff_t end = last < 0 ? 0 : last / %d + 1, high = end < %d ? end : %d;",
                        stride, c.sizes.out_width, c.sizes.out_width));
    writer_.Line(Cat("const real a = ", writer_.Value(c.node.inputs[1], {row[1], "c", "kh", "kw"}), ";"));
    writer_.Vectors();
    const std::string channel = absl::StrFormat("(%s) / %d * %d + c", row[1], c.out_group, c.in_group);
    writer_.Line(Cat("for (ptrdiff_t j = low; j < high; ++j) ", out, " += a * ",
                     writer_.Value(c.node.inputs[0], {row[0], channel, "ih", Column(c, "j")}), ";"));
    writer_.Close(3);
  }

  // The image as a matrix of what each tap sees of it, times the filters.
  void CallConvolution(int node, const Convolution& c) {
    const ConvolutionOptions& conv = c.node.conv;
    const int64_t pixels = int64_t{c.sizes.out_height} * c.sizes.out_width;
    const int64_t taps = int64_t{c.in_group} * c.sizes.kernel_height * c.sizes.kernel_width;
    const bool as_it_is = c.sizes.kernel_height == 1 && c.sizes.kernel_width == 1 && conv.stride == 1 &&
                          !conv.pad.any() && graph_.at(c.node.inputs[0]).op != Operation::kTranspose;
    const std::string columns = Cat("columns", node);
    if (!as_it_is) writer_.DeclareColumns(columns, static_cast<size_t>(pixels * taps));
    writer_.Line(writer_.For("n", c.sizes.images));
    writer_.Open(writer_.For("g", conv.groups));
    if (!as_it_is) c.nhwc ? FillColumnsOfPixels(columns, c, taps) : FillColumnsOfTaps(columns, c);
    const LoopsWriter::View image = writer_.ViewOf(c.node.inputs[0]),
                            filters = writer_.ViewOf(c.node.inputs[1]), out = writer_.ViewOf(node);
    const std::string channel = Cat("g * ", c.in_group), filter = Cat("g * ", c.out_group);
    if (c.nhwc) {
      const Matrix lhs = as_it_is ? Matrix{"111", Cat("&", writer_.Element(image, {"n", "0", "0", channel})),
                                           Cat(c.sizes.channels)}
                                  : Matrix{"111", columns, Cat(taps)};
      CallSgemm(pixels, c.out_group, taps, lhs,
                {"111", Cat("&", writer_.Element(filters, {"0", "0", "0", filter})), Cat(c.sizes.filters)},
                {"111", Cat("&", writer_.Element(out, {"n", "0", "0", filter})), Cat(c.sizes.filters)});
    } else {
      const Matrix rhs = {"111",
                          as_it_is ? Cat("&", writer_.Element(image, {"n", channel, "0", "0"})) : columns,
                          Cat(pixels)};
      CallSgemm(c.out_group, pixels, taps,
                {"111", Cat("&", writer_.Element(filters, {filter, "0", "0", "0"})), Cat(taps)}, rhs,
                {"111", Cat("&", writer_.Element(out, {"n", filter, "0", "0"})), Cat(pixels)});
    }
    writer_.Close();
  }

  std::string Inside(const Convolution& c) const {
    return absl::StrFormat("ih >= 0 && ih < %d && iw >= 0 && iw < %d", c.sizes.height, c.sizes.width);
  }

  // A row for each pixel.
  void FillColumnsOfPixels(const std::string& columns, const Convolution& c, int64_t taps) {
    if (writer_.parallel()) writer_.Line("#pragma omp parallel for collapse(2)");
    writer_.Line(writer_.For("oh", c.sizes.out_height));
    writer_.Open(writer_.For("ow", c.sizes.out_width));
    writer_.Line(absl::StrFormat("float* to = %s + (oh * %d + ow) * %d;", columns, c.sizes.out_width, taps));
    OpenRow(c, "oh");
    writer_.Open(writer_.For("kw", c.sizes.kernel_width));
    writer_.Line(Cat("const ptrdiff_t iw = ", Column(c, "ow"), ";"));
    const std::string loop = writer_.For("c", c.in_group);
    const std::string channel = Cat("g * ", c.in_group, " + c");
    writer_.Line(Cat("if (", Inside(c), ") ", loop,
                     " to[c] = ", writer_.Value(c.node.inputs[0], {"n", "ih", "iw", channel}), ";"));
    writer_.Line(Cat("else ", loop, " to[c] = 0;"));
    writer_.Line(Cat("to += ", c.in_group, ";"));
    writer_.Close(3);
  }

  // A row for each tap.
  void FillColumnsOfTaps(const std::string& columns, const Convolution& c) {
    if (writer_.parallel()) writer_.Line("#pragma omp parallel for");
    writer_.Line(writer_.For("c", c.in_group));
    writer_.Line(writer_.For("kh", c.sizes.kernel_height));
    writer_.Line(writer_.For("kw", c.sizes.kernel_width));
    writer_.Open(writer_.For("oh", c.sizes.out_height));
    writer_.Line(absl::StrFormat("float* to = %s + (((c * %d + kh) * %d + kw) * %d + oh) * %d;", columns,
                                 c.sizes.kernel_height, c.sizes.kernel_width, c.sizes.out_height,
                                 c.sizes.out_width));
    writer_.Line(absl::StrFormat("const ptrdiff_t ih = oh * %d + kh * %d - %d;", c.node.conv.stride,
                                 c.node.conv.dilation, c.node.conv.pad.top));
    writer_.Open(writer_.For("ow", c.sizes.out_width));
    writer_.Line(Cat("const ptrdiff_t iw = ", Column(c, "ow"), ";"));
    const std::string channel = Cat("g * ", c.in_group, " + c");
    writer_.Line(Cat("to[ow] = ", Inside(c), " ? ",
                     writer_.Value(c.node.inputs[0], {"n", channel, "ih", "iw"}), " : 0;"));
    writer_.Close(2);
  }

  LoopsWriter& writer_;
  const Graph& graph_;
  const LoopsKind kind_;
};

}  // namespace

void ComputeContraction(LoopsWriter& writer, int node) { ContractionPrinter(writer).Compute(node); }

}  // namespace kirsch
