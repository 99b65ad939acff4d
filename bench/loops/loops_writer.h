// SPDX-License-Identifier: Apache-2.0
// Writes what the loops of all operations have in common: their text, and the values in them.
//
// An operation's printer asks for elements by their indices. It does not need to know whether an operand is
// in memory, is a transposed view, is repeated along some axes, or is computed in place:
//
//   Value(add, {"i0", "j"})   ->   "((real)v0[(i0) * 512 + j] + (real)v1[j])"
#ifndef KIRSCH_BENCH_LOOPS_LOOPS_WRITER_H_
#define KIRSCH_BENCH_LOOPS_LOOPS_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/loops/loops.h"
#include "bench/loops/loops_storage.h"

namespace kirsch {

// Indices, one along each axis: "i0", "k"; "0" along an axis that has just one element.
using Names = std::vector<std::string>;

// Returns the C type of an element in memory. An f32 parameter is a float even where values are computed in
// float64, and so is a parameter of blocks.
std::string CType(Dtype dtype, bool parameter);

// Collects the text. Node i is called "vi" in it: a pointer to the node's memory.
class LoopsWriter {
 public:
  LoopsWriter(const Graph& graph, LoopsKind kind, bool parallel);

  const Graph& graph() const { return graph_; }
  LoopsKind kind() const { return kind_; }
  bool parallel() const { return parallel_; }

  // Text. Line() adds a line, Open() begins a block, Close() ends some.
  void Line(const std::string& text);
  void Open(const std::string& text);
  void Close(size_t blocks = 1);
  // "for (ptrdiff_t INDEX = 0; INDEX < COUNT; ++INDEX)".
  static std::string For(const std::string& index, int64_t count);

  // Tells the compiler that the loop which follows depends on none of its own stores.
  void Vectors() { Line("#pragma GCC ivdep"); }

  // Opens a block within loops over the first `outer` of the axes, which all threads share if there are
  // several. Returns the indices.
  Names OpenLoops(const std::vector<uint32_t>& dims, size_t outer);

  // The node whose memory a node's is, and the strides in it. A transposed tensor is a view of its operand.
  struct View {
    int base;
    std::vector<int64_t> strides;
  };
  View ViewOf(int node) const;

  bool HasLoops(int node) const { return kirsch::HasLoops(graph_, storage_, node); }

  // Names the node's memory, if it has some.
  void Declare(int node);

  // Returns an element in memory: "v3[(i0) * 512 + i1]".
  std::string Element(const View& view, const Names& index) const;

  // Returns an element as it is computed with: widened, or computed if it is inlined. Of a tensor that is
  // repeated along some axes it is the one that is repeated there.
  std::string Value(int node, const Names& index) const;

  // Returns the value of an elementwise operation or a cast, from its operands.
  std::string Pointwise(const GraphNode& node, const Names& index) const;

  // Declares memory of f32 called `name`, beside that of the values.
  void DeclareColumns(const std::string& name, size_t elements);

  LoopsCode Finish() &&;

 private:
  const Graph& graph_;
  const LoopsKind kind_;
  const bool parallel_;
  const LoopsStorage storage_;
  size_t columns_bytes_ = 0;
  size_t indent_ = 2;
  std::string text_;
};

// Writes the loops of a matmul or convolution, or a call of cblas_sgemm that does the same. `node` is a
// contraction.
void ComputeContraction(LoopsWriter& writer, int node);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_LOOPS_WRITER_H_
