// SPDX-License-Identifier: Apache-2.0
// Interprets register tiles: the sums that microkernels compute, added up in the order of their lanes.
// Operands are first gathered into dense arrays, so that the loops over them are few and the compiler can
// vectorise them.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/check.h"
#include "spec/element.h"
#include "spec/graph/epilogue_program.h"
#include "spec/meaning/elementwise.h"
#include "spec/meaning/interpret_kernel.h"
#include "spec/multiversion.h"

namespace kirsch {
namespace {

constexpr int64_t kSteps = 256;   // steps of the reduction gathered at a time
constexpr int64_t kColumns = 32;  // columns whose sums are kept at a time

// A sum of f16, which is rounded after each addition. The product that is added is exact, and so is the sum
// before it is rounded: both fit a double. If a product and a sum together have more bits than that, the
// product is too small to count.
class F16Sum {
 public:
  F16Sum() = default;                      // like a number, of no value; Clang 19 emits no other for clones
  F16Sum(double value) : value_(value) {}  // NOLINT(google-explicit-constructor): a number
  operator double() const { return value_; }  // NOLINT(google-explicit-constructor)
  F16Sum& operator+=(double x) {
    value_ = RoundedTo<Dtype::kF16Sums>(value_ + x);
    return *this;
  }

 private:
  double value_;
};

// out[rows][pitch] += lhs[rows][steps] * rhs[steps][pitch]; pitch is a multiple of kColumns.
template <typename Number>
[[gnu::always_inline]] inline void OuterProducts(const Number* lhs, const Number* rhs, int64_t rows,
                                                 int64_t steps, int64_t pitch, Number* out) {
  // A strip of columns stays in registers while all steps are added to it.
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
      // The last turn of the lanes may be partial.
      for (int64_t p0 = 0; p0 < steps; p0 += lanes)
        for (int64_t p = p0; p < std::min(p0 + lanes, steps); ++p)
          sum[p - p0] += lhs[i * steps + p] * rhs[j * steps + p];
    }
}

// The functions for each type of sums. KIRSCH_MULTIVERSION compiles each for several instruction sets, which
// compilers do to no template.
// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type
#define KIRSCH_SUMS_OF(Number)                                                                            \
  KIRSCH_MULTIVERSION                                                                                     \
  void AddOuterProducts(const Number* lhs, const Number* rhs, int64_t rows, int64_t steps, int64_t pitch, \
                        Number* out) {                                                                    \
    OuterProducts(lhs, rhs, rows, steps, pitch, out);                                                     \
  }                                                                                                       \
  KIRSCH_MULTIVERSION                                                                                     \
  void AddDotProducts(const Number* lhs, const Number* rhs, int64_t rows, int64_t columns, int64_t steps, \
                      int64_t lanes, Number* sums) {                                                      \
    DotProducts(lhs, rhs, rows, columns, steps, lanes, sums);                                             \
  }
// NOLINTEND(bugprone-macro-parentheses)
KIRSCH_SUMS_OF(float)
KIRSCH_SUMS_OF(double)
KIRSCH_SUMS_OF(uint32_t)
KIRSCH_SUMS_OF(F16Sum)
#undef KIRSCH_SUMS_OF

// A part of a matrix: rows from `rows` to before `end_row`, columns from `columns` to before `end_column`.
struct Part {
  int64_t rows, end_row, columns, end_column;
};

// Calls run(row, column, offset, stride, count, along_columns) for runs of elements that lie at one distance.
// All runs together are the part. Reading by runs is much quicker than by elements, as the memory checks each
// read.
template <typename Run>
void ForRuns(const MatrixLayout& layout, const Part& part, const Run& run) {
  // Runs follow the axis along which neighbours are near: the inner one, or a window's columns.
  const bool window = !layout.window.empty(), by_rows = window || layout.order == Order::kRow;
  const int64_t outer = by_rows ? part.rows : part.columns, end = by_rows ? part.end_row : part.end_column;
  const int64_t inner = by_rows ? part.columns : part.rows;
  const int64_t end_inner = by_rows ? part.end_column : part.end_row;
  for (int64_t i = outer; i < end; ++i)
    for (int64_t j = inner; j < end_inner;) {
      const int64_t row = by_rows ? i : j, column = by_rows ? j : i;
      const int64_t left = end_inner - j;
      // A run ends where a window's innermost digit or a panel does.
      const int64_t count =
          window ? std::min(left, layout.window.axes[1].RunLength(j)) : layout.Contiguous(j, left);
      run(row, column, layout.At(row, column), window ? layout.window.axes[1].stride(0) : layout.group, count,
          by_rows);
      j += count;
    }
}

// Number is the type in which sums are kept: float, double or F16Sum; or uint32_t, which wraps around as sums
// of integers do.
template <typename Number>
class TileInterpreter {
 public:
  TileInterpreter(const TileShape& tile, const InterpretedOperands& at, InterpreterMemory* memory)
      : tile_(tile),
        at_(at),
        memory_(*memory),
        pitch_(RoundUp(tile.n, kColumns)),
        sums_(static_cast<size_t>(tile.m * pitch_)),
        totals_(tile.sum_levels == 0 ? 0 : sums_.size()),
        epilogue_(RowProgramOf(tile.epilogue, AccumulatorOf(tile.lhs.dtype), tile.out.dtype)) {}

  void Run(int64_t k) {
    // The shape says what is left of the reduction; the run says all of it.
    KIRSCH_CHECK(k % tile_.step() == tile_.k_tail);
    // A tile that accumulates begins with what the output holds.
    if (tile_.accumulate) Gather(MatmulDims::kOut, tile_.out, {0, tile_.m, 0, tile_.n}, pitch_, 1, &sums_);
    switch (tile_.tile.form) {
      case LayoutKind::kVectors:
      case LayoutKind::kTiles:
        AddVectors(k);
        break;
      case LayoutKind::kLanewise:
        AddLanewise(k);
        break;
      case LayoutKind::kPartialSums:
        AddPartialSums(k);
        break;
      default:
        KIRSCH_BUG("no form of a register tile");
    }
    EndPiece();
    // Sums in blocks end up in the totals.
    if (!totals_.empty()) std::ranges::copy(totals_, sums_.begin());
    for (int64_t row = 0; row < tile_.m; ++row) Store(row);
  }

 private:
  // Ends a piece of the reduction. Of sums in blocks each piece counts as a block, however long it is: its
  // sum is added to the totals, exactly or nearly so.
  void EndPiece() {
    if (totals_.empty()) return;
    for (size_t i = 0; i < totals_.size(); ++i) totals_[i] += std::exchange(sums_[i], Number{0});
  }

  // Gathers a part of an operand: to[row * row_pitch + column * column_pitch], where the part's own first row
  // and column are 0.
  void Gather(int operand, const MatrixLayout& layout, const Part& part, int64_t row_pitch,
              int64_t column_pitch, std::vector<Number>* to) {
    ForRuns(layout, part,
            [&](int64_t row, int64_t column, int64_t offset, int64_t stride, int64_t count, bool by_rows) {
              run_.resize(static_cast<size_t>(count));
              memory_.Read(at_[static_cast<size_t>(operand)], offset, stride, count, run_.data());
              const int64_t step = by_rows ? column_pitch : row_pitch;
              Number* const first =
                  to->data() + (row - part.rows) * row_pitch + (column - part.columns) * column_pitch;
              for (int64_t i = 0; i < count; ++i) first[i * step] = run_[static_cast<size_t>(i)];
            });
  }

  // How many steps of the reduction are gathered at once. An observer must see the accesses in the order of
  // machine code, so with one it is one step of an instruction.
  int64_t StepsAtOnce() const { return memory_.is_observed() ? tile_.step() : kSteps; }

  // Calls body(first, end) for consecutive pieces of the reduction, `piece` steps each, the last one perhaps
  // shorter.
  template <typename Body>
  static void ForPieces(int64_t k, int64_t piece, const Body& body) {
    for (int64_t first = 0; first < k; first += piece) body(first, std::min(k, first + piece));
  }

  // Adds outer products: rhs in rows of the tile, padded with zeros to the pitch.
  void AddVectors(int64_t k) {
    ForPieces(k, StepsAtOnce(), [&](int64_t first, int64_t end) {
      const int64_t steps = end - first;
      lhs_.assign(static_cast<size_t>(tile_.m * steps), 0);
      rhs_.assign(static_cast<size_t>(steps * pitch_), 0);
      Gather(MatmulDims::kLhs, tile_.lhs, {0, tile_.m, first, end}, steps, 1, &lhs_);
      Gather(MatmulDims::kRhs, tile_.rhs, {first, end, 0, tile_.n}, pitch_, 1, &rhs_);
      AddOuterProducts(lhs_.data(), rhs_.data(), tile_.m, steps, pitch_, sums_.data());
      EndPiece();
    });
  }

  // Adds dot products whose lanes are sums of their own, as in vectors along the reduction. The lanes start
  // from zero; their sum is added to what the tile held.
  void AddPartialSums(int64_t k) {
    const int64_t lanes = tile_.tile.lanes;
    std::vector<Number> partial(static_cast<size_t>(tile_.m * tile_.n * lanes));
    ForPieces(k, StepsAtOnce(), [&](int64_t first, int64_t end) {
      const int64_t steps = end - first;
      lhs_.assign(static_cast<size_t>(tile_.m * steps), 0);
      rhs_.assign(static_cast<size_t>(tile_.n * steps), 0);
      Gather(MatmulDims::kLhs, tile_.lhs, {0, tile_.m, first, end}, steps, 1, &lhs_);
      Gather(MatmulDims::kRhs, tile_.rhs, {first, end, 0, tile_.n}, 1, steps, &rhs_);
      AddDotProducts(lhs_.data(), rhs_.data(), tile_.m, tile_.n, steps, lanes, partial.data());
      // Sums in blocks end with the piece; any other sum keeps its lanes to the end.
      if (totals_.empty()) return;
      AddLanes(&partial);
      EndPiece();
    });
    AddLanes(&partial);
  }

  // Adds each element's lanes to its sum, in their order, and sets them to 0.
  void AddLanes(std::vector<Number>* partial) {
    const int64_t lanes = tile_.tile.lanes;
    for (int64_t i = 0; i < tile_.m; ++i)
      for (int64_t j = 0; j < tile_.n; ++j) {
        Number sum = 0;
        for (int64_t lane = 0; lane < lanes; ++lane)
          sum += std::exchange((*partial)[static_cast<size_t>((i * tile_.n + j) * lanes + lane)], Number{0});
        sums_[static_cast<size_t>(i * pitch_ + j)] += sum;
      }
  }

  // Adds products of vectors along n: every element of lhs is such a vector, whose lanes may be in groups
  // (Window::LaneGroup).
  void AddLanewise(int64_t k) {
    lhs_.assign(static_cast<size_t>(tile_.n), 0);
    rhs_.assign(static_cast<size_t>(k * pitch_), 0);
    Gather(MatmulDims::kRhs, tile_.rhs, {0, k, 0, tile_.n}, pitch_, 1, &rhs_);
    const int64_t group = tile_.tile.lane_group;
    for (int64_t i = 0; i < tile_.m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        memory_.Read(at_[MatmulDims::kLhs], tile_.lhs.At(i, p), 1, tile_.n, lhs_.data());
        for (int64_t j = 0; j < tile_.n; ++j)
          sums_[static_cast<size_t>(i * pitch_ + j)] += lhs_[static_cast<size_t>(j - j % group + p % group)] *
                                                        rhs_[static_cast<size_t>(p * pitch_ + j)];
        // A block of the sum has so many steps.
        if ((p + 1) % kSumBlock == 0) EndPiece();
      }
  }

  // Stores a row of the sums, through the epilogue if there is one.
  void Store(int64_t row) {
    KIRSCH_CHECK(tile_.out.order == Order::kRow && tile_.out.panel == 0 && tile_.out.window.empty());
    const Number* const sums = sums_.data() + row * pitch_;
    const int64_t offset = tile_.out.At(row, 0);
    // Integers are signed again when they leave the sums.
    if (tile_.epilogue.empty())
      return memory_.Write(at_[MatmulDims::kOut], offset, 1, tile_.n, reinterpret_cast<const Signed*>(sums));
    std::vector<double> stored;
    for (int64_t column = 0; column < tile_.n; ++column) stored.push_back(Stored(sums[column], row, column));
    memory_.Write(at_[MatmulDims::kOut], offset, 1, tile_.n, stored.data());
  }

  // Applies the epilogue to one sum. The epilogue asks for its operands by their number.
  double Stored(Number sum, int64_t row, int64_t column) {
    const auto element = [&](int number) {
      const EpilogueArgument& argument = tile_.arguments[static_cast<size_t>(number)];
      double value = 0;
      memory_.Read(at_[static_cast<size_t>(MatmulDims::kOut + 1 + number)],
                   row * argument.row_stride + (argument.columns ? column : 0), 1, 1, &value);
      return value;
    };
    return Apply(epilogue_, {static_cast<double>(static_cast<Signed>(sum)), 0}, element).value;
  }

  using Signed = std::conditional_t<std::is_same_v<Number, uint32_t>, int32_t, Number>;

  const TileShape& tile_;
  const InterpretedOperands& at_;
  InterpreterMemory& memory_;
  const int64_t pitch_;
  std::vector<Number> sums_;             // [m][n, padded to the pitch]
  std::vector<double> totals_;           // of sums in blocks, likewise
  std::vector<Number> lhs_, rhs_, run_;  // gathered operands, kept to save allocations
  const RowProgram epilogue_;
};

}  // namespace

// The type of the sums follows from that of lhs.
void InterpretKernel(const TileShape& tile, const InterpretedOperands& at, int64_t k,
                     InterpreterMemory* memory) {
  switch (AccumulatorOf(tile.lhs.dtype)) {
    case Dtype::kF64:
      return TileInterpreter<double>(tile, at, memory).Run(k);
    case Dtype::kF16Sums:
      return TileInterpreter<F16Sum>(tile, at, memory).Run(k);
    case Dtype::kF32:
      return TileInterpreter<float>(tile, at, memory).Run(k);
    default:
      return TileInterpreter<uint32_t>(tile, at, memory).Run(k);
  }
}

}  // namespace kirsch
