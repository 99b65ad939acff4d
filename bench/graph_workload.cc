#include "bench/graph_workload.h"

#include <cstring>

#include "bench/arena.h"
#include "bench/element.h"

namespace kirsch {
namespace {

// Of the inputs, and last the output.
std::vector<size_t> OperandBytes(const GraphProblem& problem) {
  const Graph& graph = *problem.graph;
  std::vector<size_t> bytes;
  for (int input = 0; input < graph.num_inputs(); ++input)
    bytes.push_back(static_cast<size_t>(graph.at(input).type.bytes()));
  bytes.push_back(static_cast<size_t>(graph.at(graph.result).type.bytes()));
  return bytes;
}

}  // namespace

size_t PlacedBytes(const GraphProblem& problem) { return PlacedBytes(OperandBytes(problem)); }

void Place(void* memory, GraphProblem& problem) {
  problem.inputs = PlaceBuffers(memory, OperandBytes(problem));
  problem.out = problem.inputs.back();
  problem.inputs.pop_back();
}

std::vector<absl::Span<const char>> OperandMemory(const GraphProblem& problem) {
  const std::vector<size_t> bytes = OperandBytes(problem);
  std::vector<absl::Span<const char>> memory;
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    memory.emplace_back(static_cast<const char*>(problem.inputs[i]), bytes[i]);
  memory.emplace_back(static_cast<const char*>(problem.out), bytes.back());
  return memory;
}

void FillInputs(const GraphProblem& problem) {
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorType& type = problem.graph->nodes[i].type;
    const IntegerRange range = {std::max<int64_t>(LeastOf(type.dtype), INT16_MIN),
                                std::min<int64_t>(MostOf(type.dtype), INT16_MAX)};
    FillElements(problem.inputs[i], KirschTypeOf(type.dtype), static_cast<size_t>(type.elements()), i + 1,
                 range);
  }
}

void FillOutput(const GraphProblem& problem) {
  const absl::Span<const char> out = OperandMemory(problem).back();
  std::memset(problem.out, 0xff, out.size());
}

double CompulsoryBytes(const GraphProblem& problem) {
  double bytes = 0;
  for (size_t operand : OperandBytes(problem)) bytes += static_cast<double>(operand);
  return bytes;
}

}  // namespace kirsch
