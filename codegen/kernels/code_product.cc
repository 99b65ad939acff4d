// SPDX-License-Identifier: Apache-2.0
// Writes the dot-product microkernel of integers that share scales. Rows of lhs are of type
// RoundedBeside(rhs), columns of rhs are of any type of blocks of integers. Products of up to 32 steps of the
// reduction, of words or of bytes, are summed as integers, which is exact. For each run of 32 steps, row and
// column:
//   dots = start of the row + lhs codes * rhs codes     (s32; the start takes the bias of rhs off)
//   sum += f32(dots) * (scale of lhs * scale of rhs)
//
// Parts of a block of rhs may have scales of their own, and be as long as a block of lhs. Then both scales of
// a few parts are multiplied at once when the block begins, and so are offsets and sums of lhs.
#include <algorithm>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/dot_output.h"
#include "codegen/kernels/form_writer.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Vectors have as many lanes as the tile's accumulators; lanes are summed at the end, by DotOutput.
class CodeProduct : VectorFormWriter {
 public:
  explicit CodeProduct(const Microkernel& kernel)
      : VectorFormWriter(kernel),
        output_(builder_, kernel, parameters_, accumulators_),
        decoder_(builder_, kernel.rhs.dtype, kernel.tile.lanes, RhsCodes(kernel), kernel.tile.columns),
        steps_(static_cast<int>(kernel.step())),
        vectors_(kRun / steps_),
        shared_(SharedVectors(kernel)),
        prepares_(kernel.lhs.dtype == Dtype::kQ8Super && shared_ == vectors_),
        dots_(builder_.Vector("dots", Dtype::kS32, kernel.tile.lanes)),
        terms_(Floats("terms")),
        scale_(prepares_ ? kNoVar : Floats("rhs_scale")),
        other_scale_(shared_ > 0 ? kNoVar : Floats("other_scale")),
        both_(Floats("both_scales")),
        offset_(decoder_.has_offset() && !prepares_ ? Floats("rhs_offset") : kNoVar) {
    KIRSCH_CHECK(kernel.lhs.dtype == RoundedBeside(kernel.rhs.dtype));
    KIRSCH_CHECK(kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kCol && kernel.rhs.panel == 0 && kernel.k_tail == 0);
    for (int v = 0; v < vectors_; ++v) codes_.push_back(Codes(Cat("b", v), RhsCodes(kernel)));
    for (int i = 0; i < kernel.tile.rows; ++i) AddRow(i);
    if (prepares_) AddPrepared();
  }

  Procedure Build() && {
    accumulators_.Clear();
    sums_.Start();
    for (VarId offsets : offsets_) builder_.Do(Zero{offsets});
    // A trip takes whole blocks of rhs: several, if they are shorter than what it unrolls.
    const int parts = BlockOf(kernel_.rhs.dtype) / kRun;
    sums_.Loop(IndexOf(parameters_.trips), kernel_.unroll * kernel_.step(), Constant(0), [&](const Affine&) {
      for (int part = 0; part * vectors_ < kernel_.unroll; part += parts) Block(part);
    });
    if (parameters_.rest != kNoVar) builder_.Loop(IndexOf(parameters_.rest), [&](VarId) { Block(0); });
    AddOffsets();
    sums_.Finish();
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  // Variables for 32 steps of a row of lhs. Those that the kernel does not need are kNoVar.
  struct Row {
    std::vector<VarId> codes;  // of 32 steps
    VarId scale = kNoVar;
    VarId start = kNoVar;  // of sums: what the bias of rhs makes them too much by, negative
    VarId sum = kNoVar;    // in its lanes, of the row's elements, for the offset of rhs
  };
  static constexpr int kRun = BlockOf(Dtype::kQ8);  // steps that share a scale of lhs

  VarId Floats(const std::string& name) { return builder_.Vector(name, Dtype::kF32, kernel_.tile.lanes); }
  VarId Codes(const std::string& name, Dtype dtype) { return builder_.Vector(name, dtype, steps_); }

  // True if factors are bytes, of which one has a sign and the other has none; else they are words of s16.
  static bool AreBytes(const Microkernel& kernel) { return kernel.tile.group() == WordElements(Dtype::kS8); }
  static Dtype LhsCodes(const Microkernel& kernel) { return AreBytes(kernel) ? Dtype::kS8 : Dtype::kS16; }
  static Dtype RhsCodes(const Microkernel& kernel) {
    return AreBytes(kernel) ? CodeBytes(kernel.rhs.dtype) : Dtype::kS16;
  }

  // Returns how many vectors of codes share the scale of rhs; 0 if a vector has elements of two parts.
  static int SharedVectors(const Microkernel& kernel) {
    const int part = FormatOf(kernel.rhs.dtype).part;
    return std::min(part == 0 ? kRun : part, kRun) / static_cast<int>(kernel.step());
  }

  void AddRow(int i) {
    Row row;
    for (int v = 0; v < vectors_; ++v) row.codes.push_back(Codes(Cat("a", i, "_", v), LhsCodes(kernel_)));
    if (decoder_.bias() != 0) row.start = builder_.Vector(Cat("start", i), Dtype::kS32, kernel_.tile.lanes);
    if (!prepares_) row.scale = Floats(Cat("a", i, "_scale"));
    if (!prepares_ && decoder_.has_offset()) row.sum = Floats(Cat("a", i, "_sum"));
    rows_.push_back(std::move(row));
  }

  // Declares what Prepare() writes: an array for the products of scales, and sums for those of offsets.
  void AddPrepared() {
    prepared_ = builder_.Array("products", Dtype::kF32, kFactorRun, PreparedAt(kernel_.tile.rows, 0));
    of_rhs_ = builder_.Vector("of_rhs", Dtype::kF32, kFactorRun);
    of_lhs_ = builder_.Vector("of_lhs", Dtype::kF32, kFactorRun);
    for (int i = 0; i < kernel_.tile.rows && decoder_.has_offset(); ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j)
        offsets_.push_back(builder_.Vector(Cat("offsets", i, "_", j), Dtype::kF32, kFactorRun));
  }
  // Returns where the array has the products of scales of a row and a column, one for each 32 steps.
  int64_t PreparedAt(int i, int j) const {
    return (int64_t{i} * kernel_.tile.columns + j) * (BlockOf(kernel_.rhs.dtype) / kRun);
  }
  VarId OffsetsOf(int i, int j) const { return offsets_[static_cast<size_t>(i * kernel_.tile.columns + j)]; }

  // Returns how many vectors are summed as integers before they are scaled.
  int AtOnce() const { return std::max(1, shared_); }

  // Multiplies a block of each column of rhs, 32 steps of all columns at a time. As parts of the trip, these
  // are `part` and those that follow; accumulator sets take turns by this number.
  void Block(int part) {
    const int block = BlockOf(kernel_.rhs.dtype);
    for (int j = 0; j < kernel_.tile.columns; ++j) {
      const int64_t column = Bytes(kernel_.rhs.dtype, kernel_.rhs.At(0, j));
      if (kernel_.prefetches()) Prefetch(j);
      decoder_.Begin(j, At(parameters_.rhs, column));
      for (int i = 0; i < kernel_.tile.rows && prepares_; ++i) Prepare(i, j);
    }
    for (int first = 0; first < block; first += kRun, ++part) {
      for (int i = 0; i < kernel_.tile.rows && !kernel_.tile.reads_rows_late(); ++i) ReadRow(i, first);
      for (int j = 0; j < kernel_.tile.columns; ++j) Column(j, first, part);
    }
    builder_.Do(Advance{parameters_.lhs, Constant(Bytes(kernel_.lhs.dtype, block))});
    builder_.Do(Advance{parameters_.rhs, Constant(Bytes(kernel_.rhs.dtype))});
  }

  // Computes, for a row and a column, the products of the scales of a block, and adds up the products of
  // offsets.
  void Prepare(int i, int j) {
    for (int first = 0; first < BlockOf(kernel_.rhs.dtype); first += kFactorRun * kRun) {
      const int byte = first / kRun * kWordBytes;
      decoder_.ReadScales(of_rhs_, j, first);
      builder_.Do(Load{of_lhs_, LhsByte(i, byte), kFactorRun, Dtype::kF32});
      builder_.Do(Binary{BinaryOp::kMul, of_rhs_, of_rhs_, of_lhs_});
      builder_.Do(Store{of_rhs_, At(prepared_, PreparedAt(i, j) + first / kRun), kFactorRun});
      if (offsets_.empty()) continue;
      decoder_.ReadOffsets(of_rhs_, j, first);
      builder_.Do(Load{of_lhs_, LhsByte(i, kQ8SuperScaledSums + byte), kFactorRun, Dtype::kF32});
      builder_.Do(Fma{OffsetsOf(i, j), of_rhs_, of_lhs_, OffsetsOf(i, j), SignOfOffsets()});
    }
  }

  // Adds the sums of offsets to those of the tile. They go by way of an array, as they have fewer lanes.
  void AddOffsets() {
    for (int i = 0; i < kernel_.tile.rows && !offsets_.empty(); ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j) {
        builder_.Do(Store{OffsetsOf(i, j), At(prepared_, 0), kFactorRun});
        builder_.Do(Load{terms_, At(prepared_, 0), kFactorRun});
        const VarId sum = accumulators_.at(0, i, j);
        builder_.Do(Binary{BinaryOp::kAdd, sum, sum, terms_});
      }
  }

  FmaSign SignOfOffsets() const { return decoder_.takes_offset() ? FmaSign::kNegate : FmaSign::kAdd; }

  // Reads the codes of a row for the 32 steps from `first` on, and what belongs to them.
  void ReadRow(int i, int first) {
    const Row& row = rows_[static_cast<size_t>(i)];
    for (int v = 0; v < vectors_; ++v)
      builder_.Do(Load{row.codes[static_cast<size_t>(v)],
                       LhsByte(i, FormatOf(kernel_.lhs.dtype).code(first + v * steps_).byte), steps_});
    const int part = first / kRun;
    if (row.start != kNoVar) ReadStart(row.start, i, part);
    if (row.scale != kNoVar) builder_.Do(Broadcast{row.scale, LhsByte(i, part * kWordBytes), 1, Dtype::kF32});
    if (row.sum != kNoVar) builder_.Do(Load{row.sum, LhsByte(i, kQ8ScaledSum), 1, Dtype::kF32});
  }

  // A start is in the first lane. Of long blocks it is in two lanes, each with that of one half.
  void ReadStart(VarId start, int i, int part) {
    const int bias = decoder_.bias();
    if (kernel_.lhs.dtype == Dtype::kQ8Super) {
      KIRSCH_CHECK(bias == kLongBias);
      const int byte = kQ8SuperStarts + part * kQ8SuperStartBytes;
      return builder_.Do(Load{start, LhsByte(i, byte), kernel_.tile.lanes, Dtype::kS32});
    }
    KIRSCH_CHECK(bias == kNibbleBias || bias == kPanelBias);
    builder_.Do(Load{start, LhsByte(i, bias == kNibbleBias ? kQ8NibbleStart : kQ8Start), 1, Dtype::kS32});
  }

  // Multiplies 32 steps of a column by those of all rows.
  void Column(int j, int first, int part) {
    for (int v = 0; v < vectors_; v += AtOnce()) {
      if (!prepares_) ReadScale(j, first + v * steps_);
      for (int u = v; u < v + AtOnce(); ++u)
        decoder_.ReadCodes(codes_[static_cast<size_t>(u)], j, first + u * steps_);
      for (int i = 0; i < kernel_.tile.rows; ++i) {
        if (kernel_.tile.reads_rows_late()) ReadRow(i, first);
        FindBothScales(i, j, first);
        AddProducts(accumulators_.at(part % kernel_.k_split, i, j), i, v);
      }
    }
    // An offset is the same for all elements, so it is multiplied by their sum.
    if (offset_ == kNoVar) return;
    decoder_.ReadOffset(offset_, j, first);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      const VarId sum = accumulators_.at((part + 1) % kernel_.k_split, i, j);
      builder_.Do(Fma{sum, rows_[static_cast<size_t>(i)].sum, offset_, sum, SignOfOffsets()});
    }
  }

  // Reads the scale of a vector of codes of a column. Its elements may be of two parts: then each half has
  // its own.
  void ReadScale(int j, int element) {
    decoder_.ReadScale(scale_, j, element);
    if (shared_ > 0) return;
    decoder_.ReadScale(other_scale_, j, element + steps_ / 2);
    builder_.Do(FirstLanes{scale_, scale_, other_scale_, kernel_.tile.lanes / 2});
  }

  // both_ = the scale of the row times that of the column.
  void FindBothScales(int i, int j, int first) {
    if (prepares_)
      builder_.Do(Broadcast{both_, At(prepared_, PreparedAt(i, j) + first / kRun), 1});
    else
      builder_.Do(Binary{BinaryOp::kMul, both_, scale_, rows_[static_cast<size_t>(i)].scale});
  }

  // Sums the products of AtOnce() vectors from `first` on as integers, and adds their scaled sum.
  void AddProducts(VarId sum, int i, int first) {
    const Row& row = rows_[static_cast<size_t>(i)];
    if (row.start == kNoVar)
      builder_.Do(Zero{dots_});
    else
      builder_.Do(Bits{dots_, row.start});
    for (int v = first; v < first + AtOnce(); ++v)
      builder_.Do(MultiplyAdd{dots_, codes_[static_cast<size_t>(v)], row.codes[static_cast<size_t>(v)]});
    builder_.Do(Convert{terms_, dots_});
    builder_.Do(Fma{sum, terms_, both_, sum});
  }

  // Prefetches what a trip reads of a column, as far ahead as the kernel's decision says.
  void Prefetch(int j) {
    const int64_t ahead =
        Bytes(kernel_.rhs.dtype, kernel_.rhs.At(kernel_.prefetch_k(), j + kernel_.prefetch_n()));
    for (int64_t byte = 0; byte < Bytes(kernel_.rhs.dtype); byte += kLineBytes)
      builder_.Do(kirsch::Prefetch{At(parameters_.rhs, ahead + byte)});
  }

  DotOutput output_;
  BlockDecoder decoder_;
  const int steps_, vectors_, shared_;  // of a vector of codes; vectors of 32 steps; see SharedVectors
  const bool prepares_;                 // products of scales
  const VarId dots_, terms_, scale_, other_scale_, both_, offset_;
  std::vector<VarId> codes_;
  std::vector<Row> rows_;
  VarId prepared_ = kNoVar, of_rhs_ = kNoVar, of_lhs_ = kNoVar;
  std::vector<VarId> offsets_;  // sums of theirs times those of lhs, for each row and column
};

}  // namespace

Procedure CodeProductProcedure(const Microkernel& kernel) { return CodeProduct(kernel).Build(); }

}  // namespace kirsch
