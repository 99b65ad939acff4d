// What an operation is: its iteration space and how each operand is indexed by it. Tiling, moving, packing
// and costing are written once against this table; a new op is a new row of it. Operations with an epilogue,
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

enum class OpKind : uint16_t { kMatmul };  // and more: see OpWith

inline constexpr int kMaxDims = 8;
inline constexpr int kMaxMatrices = 3;  // that an operation itself takes and makes
inline constexpr int kMaxOperands = kMaxMatrices + kMaxEpilogueOperands;
inline constexpr int kMaxAxes = 4;

struct Dim {
  std::string_view name;
  bool reduction;
};

// The dim of the iteration space that indexes an axis of an operand; -1: none, it has one element.
struct AxisMap {
  int8_t dim = -1;
};

// Operands are stored with their axes in this order, the last two being (outer, inner) of the stored matrix
// in row order; the axes before them are batch axes.
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

struct OpInfo {
  OpKind base;  // the operation without its epilogue and its window
  std::string_view name;
  int num_dims;
  std::array<Dim, kMaxDims> dims;
  int output_operand;
  int num_operands;  // inputs, the one output, what the epilogue takes
  std::array<OperandInfo, kMaxOperands> operands;
  Epilogue epilogue;
  Window window = {};
  OpKind sums = {};     // without the epilogue
  OpKind strided = {};  // without the window
  // With a window of so many digits (less 1) along its rows and its columns: without one where that makes it
  // a matrix as any other.
  std::array<std::array<OpKind, kMaxDigits>, kMaxDigits> narrowed = {};

  constexpr int output() const { return output_operand; }
};

// Dims of matmul: out[b][m][n] = sum over k of lhs[b][m][k] * rhs[b][k][n].
struct MatmulDims {
  static constexpr int kB = 0, kM = 1, kK = 2, kN = 3;
  static constexpr int kLhs = 0, kRhs = 1, kOut = 2;
};

constexpr AxisMap Along(int dim) { return {static_cast<int8_t>(dim)}; }

inline constexpr OpInfo kMatmulInfo = {
    OpKind::kMatmul,
    "matmul",
    4,
    {{{"b", false}, {"m", false}, {"k", true}, {"n", false}}},
    MatmulDims::kOut,
    3,
    {{{"lhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kK)}}},
      {"rhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kK), Along(MatmulDims::kN)}}},
      {"out", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kN)}}}}},
    {}};

inline constexpr size_t kMaxOps = 1 << 16;

namespace internal {
// Rows are added and never change.
extern std::array<std::atomic<const OpInfo*>, kMaxOps> op_table;
}  // namespace internal

inline const OpInfo& Info(OpKind op) {
  return *internal::op_table[static_cast<size_t>(op)].load(std::memory_order_acquire);
}

// The row for matmul with this epilogue and this window; the same for equal ones. Its number is this
// process's own. At most kMaxOps different ones may be asked for, those with windows of fewer digits
// included. Thread-safe.
OpKind OpWith(const Epilogue& epilogue, const Window& window = {});

}  // namespace kirsch

#endif  // KIRSCH_SPEC_OP_H_
