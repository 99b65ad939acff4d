// SPDX-License-Identifier: Apache-2.0
// Writes what a program does to one operation of linalg as named sequences of MLIR's Transform dialect, and
// the lines of a script that include them. Internal to synthesis/explain/.
//
//   transform.named_sequence @tile_m_0(%op: !transform.any_op {transform.consumed}) -> !transform.any_op {
//     %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [64, 0, 0] : ...
//     transform.yield %tiled : !transform.any_op
//   }
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SEQUENCES_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SEQUENCES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/explain/explain.h"
#include "spec/spec.h"
#include "synthesis/explain/linalg_text.h"

namespace kirsch {

class TransformSequences {
 public:
  // `prefix`: of the sequences' names. `spec`: the program's root. `swapped`: the program computes the
  // transpose, so its rows are the operation's columns.
  TransformSequences(std::string prefix, std::string_view match, std::vector<LinalgContraction::Loop> loops,
                     const Spec& spec, bool swapped);

  // True if the program's spec can be a tile of the operation: no dim of it is larger.
  bool Suits() const;

  // Adds the tile that the program itself is of the operation; `threads` share its trips.
  void AddRoot(bool threads);
  // Adds the decisions on the way to the register tile, and the register tile as vectors.
  void AddPath(const std::vector<const ExplainedNode*>& path);

  const std::string& sequences() const { return sequences_; }
  const std::string& main() const { return main_; }

 private:
  LinalgDim DimOf(int dim) const;
  bool Tile(LinalgDim dim, int64_t size, std::vector<int64_t>* sizes);
  void AddTile(std::string_view word, int dim, int64_t size, bool threads);
  void AddLoops(const std::string& name, const std::vector<int64_t>& sizes, bool threads);
  void AddPack(const Decision& decision);
  void AddVectors();
  void Include(const std::string& name, const std::string& body);
  void Remark(const std::string& text);

  const std::string prefix_;
  std::vector<LinalgContraction::Loop> loops_;  // what is left of each
  const Spec spec_;
  const bool swapped_;
  std::string op_;  // the handle of the operation, so far
  std::string sequences_, main_;
  std::array<int, kMaxDims> tiles_ = {}, splits_ = {};  // so many of each dim
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SEQUENCES_H_
