// SPDX-License-Identifier: Apache-2.0
// Makes problems of graphs, with the bounds that spec/meaning/graph_reference.h derives.
#ifndef KIRSCH_CODEGEN_VERIFY_KNOWN_GRAPH_H_
#define KIRSCH_CODEGEN_VERIFY_KNOWN_GRAPH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "codegen/verify/known_problem.h"
#include "spec/graph/graph.h"

namespace kirsch {

// The problem of a graph. Its tensors are the parameters, then the results.
class GraphProblem : public KnownProblem {
 public:
  // `graph` must outlive this. `winograd`: the convolutions that go by Winograd's algorithm, which have wider
  // bounds (see GraphReference).
  explicit GraphProblem(const Graph& graph, std::map<int, int> winograd = {});

  std::array<InputKind, 3> Kinds() const override;
  int64_t MostRows(double most_flops_in_full) const override;
  void Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const override;
  Oracle Expect(InputKind kind, absl::Span<void* const> tensors, const ProblemOutput& output,
                std::vector<int64_t> rows) const override;
  bool GapsIntact(const ProblemOutput& output, const void* out) const override;

 private:
  // Fills the gaps between a parameter's rows.
  void PoisonGaps(size_t tensor, void* data) const;
  // The result that the output is.
  const GraphResult& ResultOf(const ProblemOutput& output) const {
    return graph_.results[output.tensor - static_cast<size_t>(graph_.num_inputs())];
  }

  const Graph& graph_;
  const std::map<int, int> winograd_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_KNOWN_GRAPH_H_
