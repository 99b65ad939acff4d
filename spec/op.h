// What an operation is: its iteration space and how each operand is indexed by it. Tiling, moving, packing
// and costing are written once against this table; a new op is a new row of it. Operations with an epilogue
// are rows that are added as they are met.
#ifndef KIRSCH_SPEC_OP_H_
#define KIRSCH_SPEC_OP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/epilogue.h"

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

// One axis of an operand is indexed by sum(coefficient * dim) over at most two dims of the iteration space
// (two for the window of a convolution: stride * output position + dilation * tap). dim < 0 is an absent
// term.
struct AxisMap {
  struct Term {
    int8_t dim = -1;
    int8_t coefficient = 0;
  };
  std::array<Term, 2> terms;
};

// Operands are stored with their axes in this order, the last two being (outer, inner) of the stored matrix
// in row order; the axes before them are batch axes.
struct OperandInfo {
  std::string_view name;
  int rank;
  std::array<AxisMap, kMaxAxes> axes;

  constexpr bool UsesDim(int dim) const {
    for (int axis = 0; axis < rank; ++axis)
      for (const AxisMap::Term& term : axes[static_cast<size_t>(axis)].terms)
        if (term.dim == dim) return true;
    return false;
  }
};

struct OpInfo {
  OpKind base;  // the operation without its epilogue
  std::string_view name;
  int num_dims;
  std::array<Dim, kMaxDims> dims;
  int output_operand;
  int num_operands;  // inputs, the one output, what the epilogue takes
  std::array<OperandInfo, kMaxOperands> operands;
  Epilogue epilogue;

  constexpr int output() const { return output_operand; }
};

// Dims of matmul: out[b][m][n] = sum over k of lhs[b][m][k] * rhs[b][k][n].
struct MatmulDims {
  static constexpr int kB = 0, kM = 1, kK = 2, kN = 3;
  static constexpr int kLhs = 0, kRhs = 1, kOut = 2;
};

constexpr AxisMap Along(int dim) { return AxisMap{{{{static_cast<int8_t>(dim), 1}, {}}}}; }

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

inline constexpr size_t kMaxOps = 1 << 14;

namespace internal {
// Rows are added and never change.
extern std::array<std::atomic<const OpInfo*>, kMaxOps> op_table;
}  // namespace internal

inline const OpInfo& Info(OpKind op) {
  return *internal::op_table[static_cast<size_t>(op)].load(std::memory_order_acquire);
}

// The row for matmul with this epilogue; the same for equal ones. Its number is this process's own. At most
// kMaxOps different ones may be asked for. Thread-safe.
OpKind OpWith(const Epilogue& epilogue);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_OP_H_
