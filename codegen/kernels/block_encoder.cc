// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/block_encoder.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Rounds the 32 elements that share a scale at a time. RoundElements in spec/block.h says what each number
// is.
class BlockEncoder {
 public:
  explicit BlockEncoder(const Pack& pack)
      : pack_(pack),
        builder_(pack.Name()),
        from_(builder_.PointerParameter("from", Dtype::kF32, false)),
        to_(builder_.PointerParameter("to", PointeeOf(pack.to.dtype), true)),
        lanes_(std::min(pack.vector_bytes / kWordBytes, kBlockRun)),
        magnitude_(Floats("magnitude")),
        largest_(Floats("largest")),
        poison_(Floats("poison")),
        inverse_(Floats("inverse")),
        sum_(Floats("sum")),
        half_sum_(Floats("half_sum")),
        codes_(builder_.Vector("codes", Dtype::kS32, lanes_)) {
    KIRSCH_CHECK(pack.from.dtype == Dtype::kF32 && IsRounded(pack.to.dtype) && pack.inner_stride == 1);
    KIRSCH_CHECK(pack.from.order == Order::kRow && pack.to.order == Order::kRow && pack.to.panel == 0);
    for (int element = 0; element < kRun; element += lanes_)
      elements_.push_back(Floats(Cat("x", elements_.size())));
  }

  Procedure Build() && {
    builder_.Loop(Constant(pack_.outer), [&](VarId row) {
      const Affine from = Plus(Constant(0), row, pack_.from.outer_stride);
      const Affine to = Plus(Constant(0), row, Bytes(pack_.to.dtype, pack_.to.outer_stride));
      builder_.Loop(Constant(pack_.inner / block()), [&](VarId number) {
        Encode(Plus(from, number, block()), Plus(to, number, Bytes(pack_.to.dtype)));
      });
    });
    return std::move(builder_).Build();
  }

 private:
  static constexpr int kRun = BlockOf(Dtype::kQ8);  // elements that share a scale
  int block() const { return BlockOf(pack_.to.dtype); }
  VarId Floats(const std::string& name) { return builder_.Vector(name, Dtype::kF32, lanes_); }
  VarId Filled(float number) { return builder_.Filled(Dtype::kF32, lanes_, std::bit_cast<uint32_t>(number)); }

  bool is_long() const { return pack_.to.dtype == Dtype::kQ8Super; }

  // Encodes the block whose first element, and first byte, are these. A block of q8_long has eight runs of 32
  // elements: the numbers of one kind lie side by side for all runs, then come the codes.
  void Encode(const Affine& from, const Affine& to) {
    if (!is_long())
      return Round(from, {to, Plus(to, kQ8ScaledSum), Plus(to, kQ8Codes)}, [&] {
        StoreStart(sum_, kNibbleBias, Plus(to, kQ8NibbleStart));
        StoreStart(sum_, kPanelBias, Plus(to, kQ8Start));
        StoreHalfStarts(Plus(to, kQ8HalfStarts), Plus(to, kQ8HalfStarts + kWordBytes));
      });
    builder_.Loop(Constant(block() / kRun), [&](VarId part) {
      const auto numbers = [&](int byte) { return Plus(Plus(to, byte), part, kWordBytes); };
      const Affine starts = Plus(Plus(to, kQ8SuperStarts), part, kQ8SuperStartBytes);
      Round(Plus(from, part, kRun),
            {numbers(0), numbers(kQ8SuperScaledSums), Plus(Plus(to, kQ8SuperCodes), part, kRun)},
            [&] { StoreStarts(starts); });
    });
  }

  // Says where the numbers and the codes of 32 elements go.
  struct Places {
    Affine scale, scaled_sum, codes;
  };

  // Rounds elements that share a scale, then calls `store_starts` for what follows from the sums of their
  // codes.
  template <typename StoreStarts>
  void Round(const Affine& from, const Places& to, const StoreStarts& store_starts) {
    for (size_t i = 0; i < elements_.size(); ++i)
      builder_.Do(Load{elements_[i], {from_, Plus(from, static_cast<int64_t>(i) * lanes_)}, lanes_});
    // The scale is a 127th of the largest magnitude. It takes in the poison, so that elements which are no
    // numbers make a scale that is none.
    FindLargest();
    builder_.Do(Binary{BinaryOp::kDiv, inverse_, Filled(kLargestQ8Code), largest_});
    builder_.Do(Binary{BinaryOp::kAdd, largest_, largest_, poison_});
    builder_.Do(Binary{BinaryOp::kDiv, largest_, largest_, Filled(kLargestQ8Code)});
    builder_.Do(Store{largest_, {to_, to.scale}, 1, false, Dtype::kF32});
    // The conversion rounds to nearest, ties to even.
    for (size_t i = 0; i < elements_.size(); ++i) {
      builder_.Do(Binary{BinaryOp::kMul, elements_[i], elements_[i], inverse_});
      builder_.Do(Convert{codes_, elements_[i]});
      builder_.Do(Store{codes_, {to_, Plus(to.codes, static_cast<int64_t>(i) * lanes_)}, lanes_});
      AddToSum(i);
    }
    // The sum of the elements as they were rounded: microkernels multiply it by the offsets of rhs.
    builder_.Do(Across{BinaryOp::kAdd, sum_, sum_});
    builder_.Do(Binary{BinaryOp::kMul, magnitude_, sum_, largest_});
    builder_.Do(Store{magnitude_, {to_, to.scaled_sum}, 1, false, Dtype::kF32});
    store_starts();
  }

  // Adds vector i of the codes to the sum of all. Half way, it keeps the sum of the first half. Floats hold
  // these sums exactly.
  void AddToSum(size_t i) {
    if (i == 0) return builder_.Do(Convert{sum_, codes_});
    builder_.Do(Convert{magnitude_, codes_});
    if (2 * i == elements_.size()) builder_.Do(Across{BinaryOp::kAdd, half_sum_, sum_});
    builder_.Do(Binary{BinaryOp::kAdd, sum_, sum_, magnitude_});
  }

  // Stores the eight starts of a run of q8_long, which microkernels read as a vector. The first has that of
  // the first half, the fifth that of the second; the others are 0.
  void StoreStarts(const Affine& to) {
    const int most = kQ8SuperStartBytes / kWordBytes, count = std::min(most, lanes_);
    for (int i = 0; i < most; i += count)
      builder_.Do(Store{builder_.Filled(Dtype::kS32, lanes_, 0),
                        {to_, Plus(to, i * kWordBytes)},
                        count,
                        false,
                        Dtype::kS32});
    StoreHalfStarts(to, Plus(to, kQ8SuperStartBytes / 2));
  }

  // The sum of the second half is the sum of all less that of the first half.
  void StoreHalfStarts(const Affine& first, const Affine& second) {
    builder_.Do(Binary{BinaryOp::kSub, sum_, sum_, half_sum_});
    StoreStart(half_sum_, kLongBias, first);
    StoreStart(sum_, kLongBias, second);
  }

  // Stores a start: -bias times the sum of the codes. A sum of products begins with it where the codes of rhs
  // are `bias` too much.
  void StoreStart(VarId sum, int bias, const Affine& to) {
    builder_.Do(Binary{BinaryOp::kMul, magnitude_, sum, Filled(static_cast<float>(-bias))});
    builder_.Do(Convert{codes_, magnitude_});
    builder_.Do(Store{codes_, {to_, to}, 1, false, Dtype::kS32});
  }

  // largest_ = the largest magnitude, or, if that is less, the least one that codes can be divided by.
  // poison_ = 0, or NaN if any element is infinite or NaN: its product with 0 is.
  void FindLargest() {
    constexpr uint32_t kMagnitudes = 0x7fffffff;
    const VarId mask = builder_.Filled(Dtype::kF32, lanes_, kMagnitudes), zero = Filled(0);
    builder_.Do(Binary{BinaryOp::kAnd, largest_, elements_[0], mask});
    builder_.Do(Binary{BinaryOp::kMul, poison_, elements_[0], zero});
    for (size_t i = 1; i < elements_.size(); ++i) {
      builder_.Do(Binary{BinaryOp::kAnd, magnitude_, elements_[i], mask});
      builder_.Do(Binary{BinaryOp::kMax, largest_, largest_, magnitude_});
      builder_.Do(Fma{poison_, elements_[i], zero, poison_});
    }
    builder_.Do(Across{BinaryOp::kMax, largest_, largest_});
    builder_.Do(Across{BinaryOp::kAdd, poison_, poison_});
    builder_.Do(Binary{BinaryOp::kMax, largest_, largest_, Filled(kLeastQ8Magnitude)});
  }

  const Pack& pack_;
  ProcedureBuilder builder_;
  const VarId from_, to_;
  const int lanes_;
  std::vector<VarId> elements_;
  const VarId magnitude_, largest_, poison_, inverse_, sum_, half_sum_, codes_;
};

}  // namespace

Procedure EncodingProcedure(const Pack& pack) { return BlockEncoder(pack).Build(); }

}  // namespace kirsch
