// What an operation is: its iteration space and how each operand is indexed by it. Tiling, moving, packing
// and costing are written once against this table; a new op is a new row of it.
#ifndef KIRSCH_SPEC_OP_H_
#define KIRSCH_SPEC_OP_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace kirsch {

enum class OpKind : uint8_t { kMatmul };

inline constexpr int kMaxDims = 8;
inline constexpr int kMaxOperands = 4;
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
  OpKind kind;
  std::string_view name;
  int num_dims;
  std::array<Dim, kMaxDims> dims;
  int num_operands;  // inputs first, the one output last
  std::array<OperandInfo, kMaxOperands> operands;

  constexpr int output() const { return num_operands - 1; }
};

// Dims of matmul: out[b][m][n] = sum over k of lhs[b][m][k] * rhs[b][k][n].
struct MatmulDims {
  static constexpr int kB = 0, kM = 1, kK = 2, kN = 3;
  static constexpr int kLhs = 0, kRhs = 1, kOut = 2;
};

constexpr AxisMap Along(int dim) { return AxisMap{{{{static_cast<int8_t>(dim), 1}, {}}}}; }

inline constexpr std::array<OpInfo, 1> kOps = {{
    {OpKind::kMatmul,
     "matmul",
     4,
     {{{"b", false}, {"m", false}, {"k", true}, {"n", false}}},
     3,
     {{{"lhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kK)}}},
       {"rhs", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kK), Along(MatmulDims::kN)}}},
       {"out", 3, {{Along(MatmulDims::kB), Along(MatmulDims::kM), Along(MatmulDims::kN)}}}}}},
}};

constexpr const OpInfo& Info(OpKind op) { return kOps[static_cast<size_t>(op)]; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_OP_H_
