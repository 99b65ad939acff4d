// The dot-product microkernel of integers that share scales: rows of lhs are of type q8, columns of rhs of
// any type of blocks of integers. Products of up to 32 steps of the reduction, of words or of bytes, are
// summed as integers, which is exact; the sum is made f32, multiplied by the scales of both, and added to the
// accumulator.
#include <algorithm>
#include <vector>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/dot_output.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr int64_t kLineBytes = 64;

class CodeProduct {
 public:
  explicit CodeProduct(const Microkernel& kernel)
      : kernel_(kernel),
        builder_(kernel.Name()),
        parameters_(builder_, kernel),
        accumulators_(builder_, kernel),
        output_(builder_, kernel, parameters_, accumulators_),
        decoder_(builder_, kernel.rhs.dtype, kernel.tile.lanes, RhsCodes(kernel), kernel.tile.columns),
        steps_(static_cast<int>(kernel.step())),
        vectors_(BlockOf(kernel.lhs.dtype) / steps_),
        shared_(SharedVectors(kernel)),
        dots_(builder_.Vector("dots", Dtype::kS32, kernel.tile.lanes)),
        terms_(Floats("terms")),
        scale_(Floats("rhs_scale")),
        other_scale_(Floats("other_scale")),
        both_(Floats("both_scales")),
        offset_(decoder_.has_offset() ? Floats("rhs_offset") : kNoVar) {
    KIRSCH_CHECK(kernel.lhs.dtype == Dtype::kQ8 && kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kCol && kernel.rhs.panel == 0 && kernel.k_tail == 0);
    for (int v = 0; v < vectors_; ++v) codes_.push_back(Codes(Cat("b", v), RhsCodes(kernel)));
    for (int i = 0; i < kernel.tile.rows; ++i) AddRow(i);
  }

  Procedure Build() && {
    accumulators_.Clear();
    const int parts = BlockOf(kernel_.rhs.dtype) / BlockOf(kernel_.lhs.dtype);
    builder_.Loop(IndexOf(parameters_.trips), [&](VarId) {
      for (int part = 0; part * vectors_ < kernel_.unroll; part += parts) Block(part);
    });
    if (parameters_.rest != kNoVar) builder_.Loop(IndexOf(parameters_.rest), [&](VarId) { Block(0); });
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  struct Row {
    std::vector<VarId> codes;  // of 32 steps
    VarId scale;
    std::vector<VarId> starts;  // of sums: what the bias of rhs makes them too much by, negative
    VarId sum = kNoVar;         // in its lanes, of the row's elements, for the offset of rhs
  };

  VarId Floats(const std::string& name) { return builder_.Vector(name, Dtype::kF32, kernel_.tile.lanes); }
  VarId Codes(const std::string& name, Dtype dtype) { return builder_.Vector(name, dtype, steps_); }

  // The factors' elements: words, or bytes of which one factor's have a sign and the other's have none.
  static bool AreBytes(const Microkernel& kernel) { return kernel.tile.group() == WordElements(Dtype::kS8); }
  static Dtype LhsCodes(const Microkernel& kernel) { return AreBytes(kernel) ? Dtype::kS8 : Dtype::kS16; }
  static Dtype RhsCodes(const Microkernel& kernel) {
    return AreBytes(kernel) ? CodeBytes(kernel.rhs.dtype) : Dtype::kS16;
  }

  // Vectors of codes that share the scale of rhs; 0: a vector has elements of two parts.
  static int SharedVectors(const Microkernel& kernel) {
    const int block = BlockOf(kernel.lhs.dtype), part = FormatOf(kernel.rhs.dtype).part;
    return std::min(part == 0 ? block : part, block) / static_cast<int>(kernel.step());
  }

  void AddRow(int i) {
    Row row{{}, Floats(Cat("a", i, "_scale")), {}};
    for (int v = 0; v < vectors_; ++v) row.codes.push_back(Codes(Cat("a", i, "_", v), LhsCodes(kernel_)));
    for (int v = 0; v < vectors_ && decoder_.bias() != 0; v += AtOnce())
      row.starts.push_back(builder_.Vector(Cat("start", i, "_", v), Dtype::kS32, kernel_.tile.lanes));
    if (decoder_.has_offset()) row.sum = Floats(Cat("a", i, "_sum"));
    rows_.push_back(std::move(row));
  }

  // Vectors that are summed as integers.
  int AtOnce() const { return std::max(1, shared_); }

  // A block of each column of rhs, 32 steps of all columns at a time: as parts of the trip they are `part` and
  // those that follow.
  void Block(int part) {
    const int block = BlockOf(kernel_.rhs.dtype), run = BlockOf(kernel_.lhs.dtype);
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      const int64_t column = BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(0, j));
      if (kernel_.prefetches()) Prefetch(j);
      decoder_.Begin(j, At(parameters_.rhs, column));
    }
    for (int first = 0; first < block; first += run, ++part) {
      for (int i = 0; i < kernel_.tile.rows; ++i) ReadRow(i, first);
      for (int j = 0; j < kernel_.tile.columns; ++j) Column(j, first, part);
    }
    builder_.Do(Advance{parameters_.lhs, BytesOf(kernel_.lhs.dtype, block)});
    builder_.Do(Advance{parameters_.rhs, Bytes(kernel_.rhs.dtype)});
  }

  void ReadRow(int i, int first) {
    const Row& row = rows_[static_cast<size_t>(i)];
    const BlockFormat& format = FormatOf(kernel_.lhs.dtype);
    const int64_t block = BytesOf(kernel_.lhs.dtype, kernel_.lhs.At(i, first));
    builder_.Do(Broadcast{row.scale, At(parameters_.lhs, block + format.scale_byte), 1, Dtype::kF32});
    for (int v = 0; v < vectors_; ++v)
      builder_.Do(Load{row.codes[static_cast<size_t>(v)],
                       At(parameters_.lhs, block + format.code(v * steps_).byte), steps_});
    for (size_t group = 0; group < row.starts.size(); ++group) {
      const VarId start = row.starts[group], zero = builder_.Filled(Dtype::kS32, kernel_.tile.lanes, 0);
      SumTimes(row, static_cast<int>(group) * AtOnce(), AtOnce(), decoder_.bias(), start);
      builder_.Do(Binary{BinaryOp::kSub, start, zero, start});
    }
    if (row.sum == kNoVar) return;
    SumTimes(row, 0, vectors_, 1, dots_);
    builder_.Do(Convert{row.sum, dots_});
    builder_.Do(Binary{BinaryOp::kMul, row.sum, row.sum, row.scale});
  }

  // to = the sums of a number times the codes of `count` vectors.
  void SumTimes(const Row& row, int first, int count, int number, VarId to) {
    const VarId factor = decoder_.Codes(number);
    builder_.Do(Zero{to});
    for (int v = first; v < first + count; ++v)
      builder_.Do(MultiplyAdd{to, factor, row.codes[static_cast<size_t>(v)]});
  }

  // 32 steps of a column, times those of all rows.
  void Column(int j, int first, int part) {
    for (int v = 0; v < vectors_; v += AtOnce()) {
      const int element = first + v * steps_;
      decoder_.ReadScale(scale_, j, element);
      if (shared_ == 0) {
        decoder_.ReadScale(other_scale_, j, element + steps_ / 2);
        builder_.Do(FirstLanes{scale_, scale_, other_scale_, kernel_.tile.lanes / 2});
      }
      for (int u = v; u < v + AtOnce(); ++u)
        decoder_.ReadCodes(codes_[static_cast<size_t>(u)], first + u * steps_);
      for (int i = 0; i < kernel_.tile.rows; ++i)
        AddProducts(accumulators_.at(part % kernel_.k_split, i, j), i, v);
    }
    if (offset_ == kNoVar) return;
    decoder_.ReadOffset(offset_, j, first);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      const VarId sum = accumulators_.at((part + 1) % kernel_.k_split, i, j);
      builder_.Do(Fma{sum, rows_[static_cast<size_t>(i)].sum, offset_, sum,
                      decoder_.takes_offset() ? FmaSign::kNegate : FmaSign::kAdd});
    }
  }

  // The vectors from `first` on that are summed as integers.
  void AddProducts(VarId sum, int i, int first) {
    const Row& row = rows_[static_cast<size_t>(i)];
    if (row.starts.empty())
      builder_.Do(Zero{dots_});
    else
      builder_.Do(Bits{dots_, row.starts[static_cast<size_t>(first / AtOnce())]});
    for (int v = first; v < first + AtOnce(); ++v)
      builder_.Do(MultiplyAdd{dots_, codes_[static_cast<size_t>(v)], row.codes[static_cast<size_t>(v)]});
    builder_.Do(Convert{terms_, dots_});
    builder_.Do(Binary{BinaryOp::kMul, both_, scale_, row.scale});
    builder_.Do(Fma{sum, terms_, both_, sum});
  }

  // What a trip reads of a column, further on.
  void Prefetch(int j) {
    const int64_t ahead =
        BytesOf(kernel_.rhs.dtype, kernel_.rhs.At(kernel_.prefetch_k, j + kernel_.prefetch_n));
    for (int64_t byte = 0; byte < Bytes(kernel_.rhs.dtype); byte += kLineBytes)
      builder_.Do(kirsch::Prefetch{At(parameters_.rhs, ahead + byte)});
  }

  const Microkernel& kernel_;
  ProcedureBuilder builder_;
  const MicrokernelParameters parameters_;
  const AccumulatorSets accumulators_;
  DotOutput output_;
  BlockDecoder decoder_;
  const int steps_, vectors_, shared_;  // of a vector of codes; vectors of 32 steps; see SharedVectors
  const VarId dots_, terms_, scale_, other_scale_, both_, offset_;
  std::vector<VarId> codes_;
  std::vector<Row> rows_;
};

}  // namespace

Procedure CodeProductProcedure(const Microkernel& kernel) { return CodeProduct(kernel).Build(); }

}  // namespace kirsch
