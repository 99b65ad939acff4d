// SPDX-License-Identifier: Apache-2.0
// Describes an operation: its iteration space, and how it indexes each operand. Tiling, moving, packing and
// costing are written once against this table, so a new op is a new row of it. Operations with an epilogue,
// or with a window, are rows that are added as they are met.
#ifndef KIRSCH_SPEC_OP_H_
#define KIRSCH_SPEC_OP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/epilogue.h"
#include "spec/window.h"

namespace kirsch {

enum class OpKind : uint32_t { kMatmul, kDepthwise };  // and more: see OpWith

inline constexpr int kMaxDims = 7;
inline constexpr int kMaxMatrices = 3;  // that an operation itself takes and makes
inline constexpr int kMaxOperands = kMaxMatrices + kMaxEpilogueOperands;
inline constexpr int kMaxAxes = 4;

struct Dim {
  std::string_view name;
  bool reduction;
};

// The dim of the iteration space that indexes an axis of an operand. -1: none, as the axis has one element.
struct AxisMap {
  int8_t dim = -1;
};

// How an operand is indexed. It is stored with its axes in this order. The last two are (outer, inner) of the
// stored matrix in row order; the axes before them are batch axes.
struct OperandInfo {
  std::string_view name;
  int rank;
  std::array<AxisMap, kMaxAxes> axes;

  constexpr bool UsesDim(int dim) const {
    for (int axis = 0; axis < rank; ++axis)
      if (axes[static_cast<size_t>(axis)].dim == dim) return true;
    return false;
  }
};

// Dims of all operations. Of a matmul: out[b][m][n] = sum over k of lhs[b][m][k] * rhs[b][k][n].
struct MatmulDims {
  static constexpr int kB = 0, kM = 1, kK = 2, kN = 3;
  static constexpr int kLhs = 0, kRhs = 1, kOut = 2;
};

// A row of the table. The numbers of related rows are in it, so that to leave out an epilogue or a window
// takes no search.
struct OpInfo {
  OpKind base;  // the operation without its epilogue and its window
  std::string_view name;
  std::string_view meaning;  // of matrices, for help; empty where the shorthand is another operation's
  int num_dims;
  std::array<Dim, kMaxDims> dims;
  int output_operand;
  int num_operands;  // inputs, the one output, what the epilogue takes
  std::array<OperandInfo, kMaxOperands> operands;
  Epilogue epilogue;
  Window window = {};
  OpKind sums = {};     // without the epilogue
  OpKind strided = {};  // without the window; itself, if it has to have one
  // The op of a tile whose indices have so many digits (less 1) along the window's two axes. It has no window
  // where the view is then a matrix as any other.
  std::array<std::array<OpKind, kMaxDigits>, kMaxDigits> narrowed = {};

  constexpr int output() const { return output_operand; }
  // True if both inputs have the dim that vectors run along, so each lane has products of its own. Lhs is
  // then a window, whatever its digits.
  constexpr bool lanewise() const { return operands[MatmulDims::kLhs].UsesDim(MatmulDims::kN); }
  // True if out^T = rhs^T lhs^T is a problem of the same operation.
  bool transposes() const {
    return window.empty() && !lanewise() &&
           operands[MatmulDims::kLhs].axes[0].dim == operands[MatmulDims::kRhs].axes[0].dim;
  }
};

constexpr AxisMap Along(int dim) { return {static_cast<int8_t>(dim)}; }

inline constexpr OpInfo kMatmulInfo = {
    OpKind::kMatmul,
    "matmul",
    "out[M][N] = lhs[M][K] * rhs[K][N]",
    4,
    {{{"b", false}, {"m", false}, {"k", true}, {"n", false}}},
    MatmulDims::kOut,
    3,
    {{{"lhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kK)}}},
      {"rhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kK), Along(MatmulDims::kN)}}},
      {"out", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kN)}}}}},
    {}};

// Depthwise convolution, or one of few channels in a group (Window::LaneGroup), which has the same dims:
// out[b][m][n] = sum over k of lhs[b][m][k][n] * rhs[b][k][n]. m is a pixel of the output, k a tap, n a
// channel. Lhs is always a window, along m and k.
inline constexpr OpInfo kDepthwiseInfo = {
    OpKind::kDepthwise,
    "depthwise",
    "",
    4,
    kMatmulInfo.dims,
    MatmulDims::kOut,
    3,
    {{{"lhs",
       4,
       {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kK), Along(MatmulDims::kN)}}},
      kMatmulInfo.operands[MatmulDims::kRhs],
      kMatmulInfo.operands[MatmulDims::kOut]}},
    {}};

// The basic operations, by their OpKind. Tables hold these numbers, so a new one comes last.
inline constexpr std::array kBasicOps = {&kMatmulInfo, &kDepthwiseInfo};

namespace internal {
// Rows are added and never change, and neither do pages of rows. So readers take no lock.
inline constexpr size_t kOpsPerPage = 1024, kOpPages = 1 << 16;
using OpPage = std::array<std::atomic<const OpInfo*>, kOpsPerPage>;
extern OpPage first_op_page;  // which nearly all are in
extern std::array<std::atomic<OpPage*>, kOpPages> op_pages;
}  // namespace internal

inline const OpInfo& Info(OpKind op) {
  const auto number = static_cast<size_t>(op);
  const internal::OpPage& page =
      number < internal::kOpsPerPage
          ? internal::first_op_page
          : *internal::op_pages[number / internal::kOpsPerPage].load(std::memory_order_acquire);
  return *page[number % internal::kOpsPerPage].load(std::memory_order_acquire);
}

// Returns the row for a basic operation with this epilogue and this window; the same number for equal ones.
// The number is this process's own, so files never hold it. A row takes less than a kilobyte, for as long as
// the process lives: specs are plain values and don't say when they are forgotten. There is room for 67
// million rows. Thread-safe.
OpKind OpWith(const Epilogue& epilogue, const Window& window = {}, OpKind base = OpKind::kMatmul);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_OP_H_
