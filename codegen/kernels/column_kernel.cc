// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>
#include <vector>

#include "codegen/kernels/any_columns.h"
#include "codegen/kernels/row_code.h"
#include "codegen/kernels/row_kernel.h"
#include "codegen/kernels/row_sums.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"
#include "spec/element.h"
#include "spec/graph/row_passes.h"
#include "spec/sum_blocks.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Writes a row program whose reductions go down the columns. It takes block after block of a few vectors of
// columns; of each block all passes, each down all rows. A lane is a column, so lanes never meet.
class ColumnWriter {
 public:
  explicit ColumnWriter(const RowKernel& kernel)
      : kernel_(kernel),
        lanes_(kernel.schedule.lanes),
        plan_(FindPasses(kernel.program, kernel.schedule)),
        builder_(kernel.Name()) {
    KIRSCH_CHECK(IsSound(kernel.program, kernel.schedule));
  }

  // Whole blocks of `unroll` vectors, then what is left as one smaller block, whose last vector may be
  // partial.
  Procedure Write() && {
    parameters_.Declare(builder_, kernel_);
    const int unroll = kernel_.schedule.unroll.empty() ? 1 : kernel_.schedule.unroll.front();
    for (int slot = 0; slot <= unroll; ++slot) {  // one more for the rest
      columns_.push_back(Code(nullptr, Cat("column", slot)));
      elements_.push_back(Code(columns_.back().get(), Cat(slot)));
    }
    const int64_t block = int64_t{unroll} * lanes_, blocks = kernel_.columns / block;
    const std::vector<LaneCount> whole(static_cast<size_t>(unroll), lanes_);
    if (!kernel_.columns.IsConstant()) {
      const LeftOfBlocks left = CountBlocks(builder_, parameters_.columns, unroll, lanes_);
      builder_.Loop(IndexOf(left.blocks), [&](VarId trip) { Block(Plus(Constant(0), trip, block), whole); });
      WriteLeft(builder_, left, unroll, lanes_,
                [&](const Affine& column, const std::vector<LaneCount>& counts) { Block(column, counts); });
      return std::move(builder_).Build();
    }
    if (blocks == 1) Block(Constant(0), whole);
    if (blocks > 1)
      builder_.Loop(Constant(blocks), [&](VarId trip) { Block(Plus(Constant(0), trip, block), whole); });
    const int rest = static_cast<int>(kernel_.columns % block);
    std::vector<LaneCount> counts(static_cast<size_t>(rest / lanes_), lanes_);
    if (rest % lanes_ != 0) counts.push_back(rest % lanes_);
    if (!counts.empty()) Block(Constant(blocks * block), counts);
    return std::move(builder_).Build();
  }

 private:
  using Codes = std::vector<std::unique_ptr<RowCode>>;

  // Makes the variables of one vector. Those of a column hold what is one for the column, such as its sum;
  // those of an element, whose `column` is given, are written anew in each row.
  std::unique_ptr<RowCode> Code(RowCode* column, const std::string& suffix) {
    return std::make_unique<RowCode>(builder_, kernel_, plan_, parameters_, column, suffix);
  }

  // Writes all passes over the vectors of columns from `column` on. What is one for a column is computed and
  // stored between the passes.
  void Block(const Affine& column, const std::vector<LaneCount>& counts) {
    std::vector<RowPlace> places;
    for (const LaneCount& count : counts)
      places.push_back({Plus(column, static_cast<int64_t>(places.size()) * lanes_), count});
    for (size_t pass = 0; pass <= plan_.passes.size(); ++pass) {
      Each(columns_, plan_.row_values[pass], places,
           [](RowCode& code, int value, const RowPlace& place) { code.Compute(value, place); });
      Each(columns_, plan_.row_results[pass], places,
           [](RowCode& code, int result, const RowPlace& place) { code.StoreResult(result, place); });
      if (pass < plan_.passes.size()) Pass(plan_.passes[pass], places);
    }
  }

  // Goes step by step for all vectors, so that they are computed side by side.
  template <typename Step>
  void Each(const Codes& codes, const std::vector<int>& items, const std::vector<RowPlace>& places,
            Step step) {
    for (int item : items)
      for (size_t slot = 0; slot < places.size(); ++slot) step(*codes[slot], item, places[slot]);
  }

  // Goes down all rows once, and where pointers went along, back up again.
  void Pass(const RowPass& pass, const std::vector<RowPlace>& places) {
    Down(pass, places);
    if (!kernel_.columns.IsConstant())
      builder_.Loop(IndexOf(parameters_.row_count), [&](VarId) { AdvancePointers(-1); });
  }

  // Long sums go in blocks (row_sums.h).
  void Down(const RowPass& pass, const std::vector<RowPlace>& places) {
    Each(columns_, pass.reductions, places,
         [&](RowCode& code, int reduction, const RowPlace&) { Initialize(code, reduction); });
    if (kernel_.sum_levels == 0) return Rows(pass, Constant(0), IndexOf(parameters_.row_count), places);
    const auto each_sum = [&](const auto& step) {
      Each(columns_, pass.reductions, places, [&](RowCode& code, int reduction, const RowPlace&) {
        if (IsSum(kernel_.program, reduction)) step(code, reduction, code.Of(reduction));
      });
    };
    SumInBlocks(builder_, IndexOf(parameters_.row_count), kSumBlock, kernel_.sum_levels, each_sum,
                [&](const Affine& first, const Affine& count) { Rows(pass, first, count, places); });
  }

  // If rows are a number of columns apart that is known at run time only, offsets of rows are no sums of
  // multiples of indices. So pointers go from row to row.
  void Rows(const RowPass& pass, const Affine& first, const Affine& count, std::vector<RowPlace> places) {
    builder_.Loop(count, [&](VarId row) {
      for (RowPlace& place : places) {
        place.number = Plus(first, row, 1);
        if (kernel_.columns.IsConstant()) place.row = place.number;
      }
      Row(pass, places);
      if (!kernel_.columns.IsConstant()) AdvancePointers(1);
    });
  }

  void AdvancePointers(int64_t rows) {
    AdvanceByRows(builder_, parameters_.inputs, kernel_.input_row_strides, parameters_.columns, rows);
    AdvanceByRows(builder_, parameters_.results, kernel_.result_row_strides, parameters_.columns, rows);
  }

  // Writes one row of a pass: what was kept is read, values are computed, then accumulated, kept and stored.
  void Row(const RowPass& pass, const std::vector<RowPlace>& places) {
    Each(elements_, pass.read, places,
         [](RowCode& code, int value, const RowPlace& place) { code.Read(value, place); });
    Each(elements_, pass.computed, places,
         [](RowCode& code, int value, const RowPlace& place) { code.Compute(value, place); });
    Each(elements_, pass.reductions, places, [](RowCode& code, int reduction, const RowPlace& place) {
      code.Accumulate(reduction, code.Of(reduction), place);
    });
    Each(elements_, pass.kept, places,
         [](RowCode& code, int value, const RowPlace& place) { code.Keep(value, place); });
    Each(elements_, pass.results, places,
         [](RowCode& code, int result, const RowPlace& place) { code.StoreResult(result, place); });
  }

  void Initialize(RowCode& code, int reduction) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    builder_.Do(Fill{code.Of(reduction),
                     WordOf(RealOf(kernel_.program), IsSum(kernel_.program, reduction) ? 0 : -kInfinity)});
  }

  const RowKernel& kernel_;
  const int lanes_;
  const RowPasses plan_;
  ProcedureBuilder builder_;
  RowParameters parameters_;
  Codes columns_, elements_;
};

}  // namespace

Procedure ColumnProcedure(const RowKernel& kernel) { return ColumnWriter(kernel).Write(); }

}  // namespace kirsch
