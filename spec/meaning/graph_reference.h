// SPDX-License-Identifier: Apache-2.0
// Evaluates a graph by its definitions, row by row in double, with a bound of how far off a kernel in f32 may
// be. It is slow and obvious, so that tests and verification can compare kernels with it. It computes rows
// when they are asked for: a few rows of a large result are cheap. Not thread-safe.
//
// Memory: of each parameter the last row is kept, since parameters can be read again; of all other nodes
// every row.
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

// Writes elements of a parameter, given by its number, to an array: `count` elements from number `first` on,
// counted as they lie in memory.
using ReadParameter = std::function<void(int parameter, int64_t first, int64_t count, double* to)>;

class GraphReference {
 public:
  // `inputs`: the elements of the parameters, in order. The graph and the inputs must outlive this.
  // `winograd`: the convolutions (as nodes) whose results may be as far off as Winograd's algorithm makes
  // them, with the sides of their squares. Such convolutions are nhwc, 3x3, of stride 1 and one group.
  GraphReference(const Graph& graph, std::vector<const void*> inputs, std::map<int, int> winograd = {});
  GraphReference(const Graph& graph, ReadParameter read, std::map<int, int> winograd = {});

  // The length and the number of a tensor's rows, which run along the last axis. A tensor without axes has
  // one row of one element.
  static int64_t RowLength(const TensorType& type) { return type.dims.empty() ? 1 : type.dims.back(); }
  static int64_t Rows(const TensorType& type) { return type.elements() / RowLength(type); }
  // The offset of a row's first element in memory, by the tensor's strides.
  static int64_t StartOfRow(const TensorType& type, int64_t row);

  // Computes a row of a result, rounded to the result's type. Uncertain is a value with its largest error.
  std::vector<Uncertain> ResultRow(const GraphResult& result, int64_t row);

 private:
  using Row = std::vector<Uncertain>;

  // Computes a row of a node, or finds it. A parameter's row is valid until another row of the same parameter
  // is asked for.
  const Row& RowOf(int node, int64_t row);
  Row InputRow(int node, int64_t row) const;
  template <typename Others>
  // One function for each kind of operation; Compute chooses.
  static Row IntegerSums(const Row& factors, const Others& others);
  Row MatmulRow(const GraphNode& node, int64_t row);
  Row ConvolutionRow(int node, int64_t row);
  std::vector<double> WinogradRow(int node, int64_t row);
  Row ElementwiseRow(const GraphNode& node, int64_t row);
  using OneElement = Uncertain (GraphReference::*)(const GraphNode& node, std::vector<int64_t> index);
  Row ByElements(const GraphNode& node, int64_t row, OneElement element);
  Uncertain TransposedElement(const GraphNode& node, std::vector<int64_t> index);
  Uncertain ReducedElement(const GraphNode& node, std::vector<int64_t> index);
  Uncertain AlongAxisElement(const GraphNode& node, std::vector<int64_t> index);
  Uncertain CumsumElement(const GraphNode& node, std::vector<int64_t> index);
  Uncertain TakenElement(const GraphNode& node, std::vector<int64_t> index);
  Uncertain RearrangedElement(const GraphNode& node, std::vector<int64_t> index);
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
