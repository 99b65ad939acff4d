// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/row_kernel.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/kernels/any_columns.h"
#include "codegen/kernels/row_code.h"
#include "codegen/kernels/row_sums.h"
#include "codegen/loop/loop_text.h"
#include "spec/check.h"
#include "spec/element.h"
#include "spec/sum_blocks.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// f32 in a cache line.
constexpr int kLineElements = kLineBytes / kWordBytes;

// Goes over the rows, and of each row pass after pass. A pass takes blocks of `unroll` vectors side by side,
// then what is left as one smaller block whose last vector is masked. Accumulators keep their lanes beyond
// the row's end.
class RowWriter {
 public:
  explicit RowWriter(const RowKernel& kernel)
      : kernel_(kernel),
        lanes_(kernel.schedule.lanes),
        real_(RealOf(kernel.program)),
        least_(-PrecisionOf(real_).most),
        plan_(FindPasses(kernel.program, kernel.schedule)),
        builder_(kernel.Name()),
        row_(builder_, kernel_, plan_, parameters_, nullptr, "row") {
    KIRSCH_CHECK(IsSound(kernel.program, kernel.schedule));
    KIRSCH_CHECK(kernel.columns.IsConstant() || kernel.schedule.streamed == RowSchedule::kNone);
  }

  Procedure Write() && {
    parameters_.Declare(builder_, kernel_);
    if (!kernel_.columns.IsConstant()) CountColumns();
    // A slot has the variables of a vector. There are as many as any pass has at once, or as the first line
    // of a streamed result has.
    const int most = plan_.passes.empty() ? 0 : *std::ranges::max_element(kernel_.schedule.unroll);
    for (int slot = 0; slot <= std::max(most, kLineElements / lanes_); ++slot)  // one more for the rest
      slots_.push_back(std::make_unique<RowCode>(builder_, kernel_, plan_, parameters_, &row_, Cat(slot)));
    builder_.Loop(IndexOf(parameters_.row_count), [&](VarId) {
      ChooseRows();
      for (size_t pass = 0; pass < plan_.passes.size(); ++pass) {
        RowValues(pass);
        Pass(plan_.passes[pass], kernel_.schedule.unroll[pass]);
      }
      RowValues(plan_.passes.size());
      AdvanceToNextRow();
    });
    if (kernel_.schedule.streamed != RowSchedule::kNone) builder_.Do(Drain{});
    return std::move(builder_).Build();
  }

 private:
  // Counts the blocks and what they leave, once for all rows. Passes that unroll alike share the counts.
  void CountColumns() {
    for (int unroll : kernel_.schedule.unroll)
      if (!left_of_blocks_.contains(unroll))
        left_of_blocks_.emplace(unroll, CountBlocks(builder_, parameters_.columns, unroll, lanes_));
  }

  // Of inputs whose rows others choose, looks up which is read now.
  void ChooseRows() {
    for (size_t i = 0; i < kernel_.program.inputs.size(); ++i) {
      const RowInput& input = kernel_.program.inputs[i];
      if (input.row_from < 0) continue;
      parameters_.rows.resize(kernel_.program.inputs.size(), kNoVar);
      parameters_.rows[i] = builder_.Index(Cat("row", i));
      builder_.Do(LoadIndex{parameters_.rows[i], At(parameters_.inputs[static_cast<size_t>(input.row_from)]),
                            input.rows});
    }
  }

  // Pointers advance by rows. Operands that are the same for all rows stay, and those whose rows are chosen.
  void AdvanceToNextRow() {
    std::vector<Size> input_strides = kernel_.input_row_strides;
    for (size_t i = 0; i < input_strides.size(); ++i)
      if (kernel_.program.inputs[i].row_from >= 0) input_strides[i] = 0;
    AdvanceByRows(builder_, parameters_.inputs, input_strides, parameters_.columns, 1);
    AdvanceByRows(builder_, parameters_.results, kernel_.result_row_strides, parameters_.columns, 1);
  }

  // Computes what is one for the row before a pass needs it, in all lanes; stores those results.
  void RowValues(size_t before_pass) {
    const RowPlace place = {Constant(0), 1};
    for (int value : plan_.row_values[before_pass]) row_.Compute(value, place);
    for (int result : plan_.row_results[before_pass]) row_.StoreResult(result, place);
  }

  // Writes one pass along the row. No more accumulators are used than the row has vectors.
  void Pass(const RowPass& pass, int unroll) {
    const int streamed = kernel_.schedule.streamed;
    if (std::ranges::find(pass.results, streamed) != pass.results.end()) return StreamedPass(pass, unroll);
    accumulators_ = std::min<int>(unroll, static_cast<int>((kernel_.columns + lanes_ - 1) / lanes_));
    InitializeAccumulators(pass);
    if (!kernel_.columns.IsConstant()) {
      AnyColumns(pass, unroll);
    } else {
      const int64_t block = int64_t{unroll} * lanes_, blocks = kernel_.columns / block;
      WholeBlocks(pass, Constant(blocks), blocks, unroll);
      Rest(pass, blocks * block, unroll);
    }
    Finish(pass);
  }

  // Writes whole blocks, then one of as many vectors as are left, the last of which may be partial.
  void AnyColumns(const RowPass& pass, int unroll) {
    const LeftOfBlocks& left = left_of_blocks_.at(unroll);
    const int64_t block = int64_t{unroll} * lanes_;
    if (kernel_.columns > block) WholeBlocks(pass, IndexOf(left.blocks), kernel_.columns / block, unroll);
    WriteLeft(
        builder_, left, unroll, lanes_,
        [&](const Affine& column, const std::vector<LaneCount>& counts) { Block(pass, column, counts); });
  }

  // Stores a result past the caches, in three parts, as such stores need aligned addresses and rows begin
  // anywhere. The first line's worth is stored the usual way. From the next line on, wherever that is, whole
  // blocks go past the caches. The rest is stored the usual way, from the earliest column where the blocks
  // may end. Elements in two parts are stored twice.
  void StreamedPass(const RowPass& pass, int unroll) {
    const int64_t block = int64_t{unroll} * lanes_;
    const int64_t blocks = std::max<int64_t>(0, kernel_.columns - kLineElements) / block;
    if (blocks > 0) {
      Block(pass, Constant(0), std::vector<LaneCount>(static_cast<size_t>(kLineElements / lanes_), lanes_));
      const VarId head = builder_.Index("head");
      builder_.Do(ToLine{head, parameters_.results[static_cast<size_t>(kernel_.schedule.streamed)]});
      Blocks(pass, Plus(Constant(0), head, 1), Constant(blocks), unroll, true);
    }
    Rest(pass, blocks * block, unroll);
  }

  // Where there are more than kSumBlock blocks of columns, sums are in blocks of so many. An online sum takes
  // in all vectors of a block of columns, one after the other. So fewer blocks of columns make a block of its
  // sum.
  void WholeBlocks(const RowPass& pass, const Affine& blocks, int64_t most, int unroll) {
    const int additions = pass.online ? unroll : 1;
    const int levels = SumLevels(most * additions);
    const auto write = [&](const Affine& first, const Affine& count) {
      Blocks(pass, Times(first, int64_t{unroll} * lanes_), count, unroll);
      if (pass.online && levels > 0) EndOnlineBlock();
    };
    if (levels == 0) return write(Constant(0), blocks);
    if (pass.online) BeginOnlineBlocks();
    SumInBlocks(
        builder_, blocks, kSumBlock / additions, levels, [&](const auto& step) { ForEachSum(pass, step); },
        write);
  }
  // Calls visit(code, reduction, accumulator) for all accumulators of sums.
  template <typename Visit>
  void ForEachSum(const RowPass& pass, const Visit& visit) {
    for (int reduction : pass.reductions)
      for (int i = 0; i < accumulators_ && IsSum(kernel_.program, reduction); ++i) {
        const auto slot = static_cast<size_t>(i);
        visit(*slots_[slot], reduction, Accumulator(reduction, slot));
      }
  }

  // Writes so many whole blocks from `column` on. A single one is no loop.
  void Blocks(const RowPass& pass, const Affine& column, const Affine& blocks, int unroll,
              bool streams = false) {
    const std::vector<LaneCount> whole(static_cast<size_t>(unroll), lanes_);
    if (blocks == Constant(1)) return Block(pass, column, whole, streams);
    builder_.Loop(blocks, [&](VarId trip) {
      Block(pass, Plus(column, trip, int64_t{unroll} * lanes_), whole, streams);
    });
  }

  // Writes what is left as smaller blocks, whose last vector may be partial.
  void Rest(const RowPass& pass, int64_t column, int unroll) {
    while (column < kernel_.columns) {
      const int rest =
          static_cast<int>(std::min<int64_t>(kernel_.columns - column, int64_t{unroll} * lanes_));
      std::vector<LaneCount> counts(static_cast<size_t>(rest / lanes_), lanes_);
      if (rest % lanes_ != 0) counts.push_back(rest % lanes_);
      Block(pass, Constant(column), counts);
      column += rest;
    }
  }

  // Step by step for all vectors, so that they are computed side by side.
  void Block(const RowPass& pass, const Affine& column, const std::vector<LaneCount>& counts,
             bool streams = false) {
    std::vector<RowPlace> places;
    for (const LaneCount& count : counts)
      places.push_back({Plus(column, static_cast<int64_t>(places.size()) * lanes_), count, {}, streams});
    const auto each = [&](const std::vector<int>& items, auto step) {
      for (int item : items)
        for (size_t slot = 0; slot < places.size(); ++slot) step(item, slot);
    };
    each(pass.computed, [&](int value, size_t slot) {
      slots_[slot]->PrefetchInput(value, places[slot], static_cast<int64_t>(slot) * lanes_);
    });
    each(pass.read, [&](int value, size_t slot) { slots_[slot]->Read(value, places[slot]); });
    each(pass.computed, [&](int value, size_t slot) { slots_[slot]->Compute(value, places[slot]); });
    if (pass.online) AccumulateOnline(places);
    each(pass.reductions, [&](int value, size_t slot) {
      slots_[slot]->Accumulate(value, Accumulator(value, slot), places[slot]);
    });
    each(pass.kept, [&](int value, size_t slot) { slots_[slot]->Keep(value, places[slot]); });
    each(pass.results, [&](int result, size_t slot) { slots_[slot]->StoreResult(result, places[slot]); });
  }

  // Vectors of a block take accumulators by turns, if there are fewer of these.
  VarId Accumulator(int reduction, size_t slot) {
    return slots_[slot % static_cast<size_t>(accumulators_)]->Temporary(Cat("sums", reduction));
  }
  // Sums begin as 0 and maxima as -inf. Online maxima begin as the least number.
  void InitializeAccumulators(const RowPass& pass) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (int reduction : pass.reductions)
      for (int i = 0; i < accumulators_; ++i)
        Set(Accumulator(reduction, static_cast<size_t>(i)),
            IsSum(kernel_.program, reduction) ? 0 : -kInfinity);
    if (!pass.online) return;
    Set(row_.Temporary("maxima"), least_);
    Set(row_.Temporary("sums"), 0);
  }
  void Set(VarId var, double number) { builder_.Do(Fill{var, WordOf(real_, number)}); }

  // Combines the accumulators pairwise, the first with the last and so on, then the lanes of the one that is
  // left.
  void Finish(const RowPass& pass) {
    for (int reduction : pass.reductions) {
      const BinaryOp op = IsSum(kernel_.program, reduction) ? BinaryOp::kAdd : BinaryOp::kMax;
      for (int left = accumulators_; left > 1; left = (left + 1) / 2)
        for (int i = 0; i < left / 2; ++i) {
          const VarId to = Accumulator(reduction, static_cast<size_t>(i));
          builder_.Do(Binary{op, to, to, Accumulator(reduction, static_cast<size_t>(left - 1 - i))});
        }
      builder_.Do(Across{op, row_.Of(reduction), Accumulator(reduction, 0)});
    }
    if (pass.online) FinishOnline();
  }

  // Takes in a block of vectors. Each lane has a maximum m and a sum s of its own. With m' the maximum of m
  // and of the lane's elements x:
  //   s = s * exp(m - m') + sum of exp(x - m'),  m = m'
  // So one pass finds both the maximum and the sum.
  void AccumulateOnline(const std::vector<RowPlace>& places) {
    const VarId maxima = row_.Temporary("maxima"), sums = row_.Temporary("sums");
    const VarId block = row_.Temporary("block"), scale = row_.Temporary("scale");
    // Lanes that don't exist have the least number, which changes no maximum.
    std::vector<VarId> values;
    for (size_t slot = 0; slot < places.size(); ++slot) {
      values.push_back(slots_[slot]->Of(plan_.online->a));
      if (places[slot].count.IsAll(lanes_)) continue;
      const VarId some = slots_[slot]->Temporary("some");
      builder_.Do(FirstLanes{some, values.back(), Number(least_), places[slot].count});
      values.back() = some;
    }
    // The new maxima, then what the sums so far are scaled by.
    VarId largest = maxima;
    for (VarId value : values) {
      builder_.Do(Binary{BinaryOp::kMax, block, value, largest});
      largest = block;
    }
    builder_.Do(Binary{BinaryOp::kSub, scale, maxima, block});
    builder_.Do(Binary{BinaryOp::kMax, maxima, block, maxima});
    row_.math().ExpOfNotPositive(scale, scale);
    // Exponentials of the block's elements; 0 in lanes that don't exist.
    for (size_t slot = 0; slot < places.size(); ++slot) {
      const VarId e = slots_[slot]->Temporary("e");
      builder_.Do(Binary{BinaryOp::kSub, e, values[slot], maxima});
      slots_[slot]->math().ExpOfNotPositive(e, e);
      if (!places[slot].count.IsAll(lanes_)) builder_.Do(FirstLanes{e, e, Number(0), places[slot].count});
    }
    // The sum so far is scaled in the same operation that adds the first exponential.
    builder_.Do(Fma{sums, sums, scale, slots_[0]->Temporary("e")});
    for (size_t slot = 1; slot < places.size(); ++slot)
      builder_.Do(Binary{BinaryOp::kAdd, sums, sums, slots_[slot]->Temporary("e")});
  }
  // An online sum in blocks has one level above these, as no row has more than a group of them: a sum of
  // blocks and the maxima that it is for.
  void BeginOnlineBlocks() {
    Set(row_.Temporary("blocks"), 0);
    Set(row_.Temporary("block_maxima"), least_);
    online_in_blocks_ = true;
  }
  // Adds the sums of a block to those of all blocks, which are scaled to the block's maxima first. The
  // block's sums begin anew; its maxima go on.
  void EndOnlineBlock() {
    const VarId maxima = row_.Temporary("maxima"), sums = row_.Temporary("sums");
    const VarId blocks = row_.Temporary("blocks"), before = row_.Temporary("block_maxima");
    const VarId scale = row_.Temporary("scale");
    builder_.Do(Binary{BinaryOp::kSub, scale, before, maxima});
    row_.math().ExpOfNotPositive(scale, scale);
    builder_.Do(Fma{blocks, blocks, scale, sums});
    builder_.Do(Bits{before, maxima});
    Set(sums, 0);
  }
  // Lanes meet: each lane's sum is scaled to the maximum of all lanes, then they are added up.
  void FinishOnline() {
    const VarId maxima = row_.Temporary("maxima"), sums = row_.Temporary("sums");
    if (std::exchange(online_in_blocks_, false)) {
      EndOnlineBlock();
      builder_.Do(Bits{sums, row_.Temporary("blocks")});
    }
    const VarId maximum = row_.Of(plan_.online->maximum), scale = row_.Temporary("scale");
    builder_.Do(Across{BinaryOp::kMax, maximum, maxima});
    builder_.Do(Binary{BinaryOp::kSub, scale, maxima, maximum});
    row_.math().ExpOfNotPositive(scale, scale);
    builder_.Do(Binary{BinaryOp::kMul, sums, sums, scale});
    builder_.Do(Across{BinaryOp::kAdd, row_.Of(plan_.online->sum), sums});
  }
  VarId Number(double number) { return builder_.Filled(real_, lanes_, WordOf(real_, number)); }

  const RowKernel& kernel_;
  const int lanes_;
  const Dtype real_;  // of floats
  // The first maximum of an online sum: not -inf, as the difference of two -inf is no number.
  const double least_;
  const RowPasses plan_;
  ProcedureBuilder builder_;
  RowParameters parameters_;
  RowCode row_;
  std::vector<std::unique_ptr<RowCode>> slots_;
  int accumulators_ = 0;
  bool online_in_blocks_ = false;
  std::map<int, LeftOfBlocks> left_of_blocks_;
};

// Returns all that the procedure's code depends on as text, for the hash in its name.
std::string TextOf(const RowKernel& kernel) {
  std::string text = Cat(kernel.columns.most(), kernel.columns.IsConstant() ? "" : " at most",
                         kernel.in_place ? " in place" : "", kernel.scales ? " scales" : "",
                         kernel.schedule.online ? " online" : "", kernel.program.reduces_rows ? " down" : "",
                         kernel.sum_levels == 0 ? "" : Cat(" levels", kernel.sum_levels));
  const auto add = [&](const auto&... numbers) { Append(&text, ";", (Cat(numbers, ","))...); };
  const auto stride = [](const Size& size) { return size.IsConstant() ? size.most() : -1; };
  add(kernel.schedule.prefetch, kernel.schedule.streamed);
  for (int unroll : kernel.schedule.unroll) add(unroll);
  for (int kept : kernel.schedule.kept) add(kept);
  for (size_t i = 0; i < kernel.program.inputs.size(); ++i) {
    const RowInput& input = kernel.program.inputs[i];
    add(static_cast<int>(input.dtype), input.along_columns, stride(kernel.input_row_strides[i]));
    if (input.row_from >= 0) add(input.row_from, input.rows);
  }
  for (const RowValue& value : kernel.program.values) {
    add(Info(value.op).row_code, value.a, value.b, value.input, WordOf(value.type, value.number));
    if (value.type != Dtype::kF32) text += Info(value.type).name;
    if (value.c >= 0) add(value.c);
  }
  for (size_t i = 0; i < kernel.program.results.size(); ++i) {
    const RowResult& result = kernel.program.results[i];
    add(result.value, static_cast<int>(result.dtype), stride(kernel.result_row_strides[i]));
  }
  return text;
}

}  // namespace

std::string RowKernel::Name() const {
  return HashedName(Cat("rows_", columns.most(), "_v", schedule.lanes), TextOf(*this));
}

Procedure RowProcedure(const RowKernel& kernel) {
  return kernel.program.reduces_rows ? ColumnProcedure(kernel) : RowWriter(kernel).Write();
}

std::vector<std::string> RowFeatures(const RowKernel& kernel) {
  bool half = false, narrow = false;
  const auto look_at = [&](Dtype dtype) {
    half |= WidensByF16(dtype);
    narrow |= Bytes(dtype) < kWordBytes;
  };
  for (const RowInput& input : kernel.program.inputs) look_at(input.dtype);
  for (const RowResult& result : kernel.program.results) look_at(result.dtype);
  std::vector<std::string> features;
  if (half) features.push_back("f16c");
  if (narrow && kernel.scales) features.push_back("avx512bw");
  return features;
}

}  // namespace kirsch
