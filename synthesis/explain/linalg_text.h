// SPDX-License-Identifier: Apache-2.0
// Writes a graph as a function of MLIR: its contractions as operations of linalg, everything else beside them
// in linalg, tensor, arith and math. Each contraction has an attribute with its value's name, so that scripts
// find it:
//
//   %v3 = linalg.matmul {kirsch = "v3"} ins(%x, %w : ...) outs(%v3.init : ...) -> tensor<32x128xf32>
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_LINALG_TEXT_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_LINALG_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/graph/graph.h"

namespace kirsch {

// What an operation's loop goes over, as programs of contractions have it (spec/op.h): batch items, rows,
// steps of the reduction, columns. Pixels of an image are rows, and the image is lhs.
enum class LinalgDim : uint8_t { kItem, kRow, kStep, kColumn };

// A contraction in the text, with its loops from the outermost in. Several loops of one dim are its digits:
// pixels are rows and columns of the image.
struct LinalgContraction {
  struct Loop {
    LinalgDim dim;
    int64_t size;
  };
  int node = -1;
  std::string name;  // "v3", or "out"
  std::vector<Loop> loops;
};

struct LinalgFunction {
  std::string text;  // func.func @NAME
  std::vector<LinalgContraction> contractions;
};

// InvalidArgument if an operation has no words here: what goes along an axis, norms, groups of filters,
// transposed convolutions, casts, and some elementwise functions; or if types are no floats.
absl::StatusOr<LinalgFunction> WriteLinalg(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_LINALG_TEXT_H_
