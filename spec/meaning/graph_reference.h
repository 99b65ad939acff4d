// SPDX-License-Identifier: Apache-2.0
// What a graph means, computed row by row in double from the definitions, with a bound of what a kernel in
// f32 may be off: slow and obvious. Rows are worked out when they are asked for, so that a few rows of a
// large result are cheap. Rows of parameters are read again each time, others are kept. Not thread-safe.
#ifndef KIRSCH_SPEC_MEANING_GRAPH_REFERENCE_H_
#define KIRSCH_SPEC_MEANING_GRAPH_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/meaning/winograd_error.h"
#include "spec/uncertain.h"

namespace kirsch {

// Writes elements of a parameter, given by its number, to an array: so many from the first one on, as they
// lie.
using ReadParameter = std::function<void(int parameter, int64_t first, int64_t count, double* to)>;

class GraphReference {
 public:
  // `inputs`: the parameters' elements, as they lie, in their order. Both outlive this. `winograd`:
  // convolutions that may be off by as much as Winograd's algorithm makes them, as nodes (nhwc, 3x3, stride
  // 1, one group), and the sides of its squares.
  GraphReference(const Graph& graph, std::vector<const void*> inputs, std::map<int, int> winograd = {});
  GraphReference(const Graph& graph, ReadParameter read, std::map<int, int> winograd = {});

  // Rows run along the last axis; a tensor without axes has one row of one element.
  static int64_t RowLength(const TensorType& type) { return type.dims.empty() ? 1 : type.dims.back(); }
  static int64_t Rows(const TensorType& type) { return type.elements() / RowLength(type); }
  // Where a row's first element lies.
  static int64_t StartOfRow(const TensorType& type, int64_t row);

  // A row of the result, rounded to its type.
  std::vector<Uncertain> ResultRow(int64_t row);

 private:
  using Row = std::vector<Uncertain>;

  // A parameter's row is valid until another one of the same parameter is asked for.
  const Row& RowOf(int node, int64_t row);
  Row InputRow(int node, int64_t row) const;
  Row TransposedRow(const GraphNode& node, int64_t row);
  template <typename Others>
  static Row IntegerSums(const Row& factors, const Others& others);
  Row MatmulRow(const GraphNode& node, int64_t row);
  Row ConvolutionRow(int node, int64_t row);
  std::vector<double> WinogradRow(int node, int64_t row);
  Row ElementwiseRow(const GraphNode& node, int64_t row);
  Row ReducedRow(const GraphNode& node, int64_t row);
  Row SoftmaxRow(int softmax, int64_t row);
  Row NormRow(const GraphNode& node, int64_t row);
  Row Compute(int node, int64_t row);
  Uncertain Element(int node, const std::vector<int64_t>& index);

  const Graph& graph_;
  const ReadParameter read_;
  const std::map<int, int> winograd_;
  std::map<int, WinogradErrors> errors_;       // of winograd_
  std::vector<std::map<int64_t, Row>> rows_;   // per node; of a parameter one
  std::vector<std::vector<int64_t>> strides_;  // per parameter
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_GRAPH_REFERENCE_H_
