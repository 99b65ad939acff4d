#include "bench/expected_result.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/element.h"
#include "bench/memory.h"

namespace kirsch {
namespace {

// Of an elementwise operation: functions differ in their last few bits.
constexpr double kRoundingsEach = 16;

// Roundings on the way to an element of the result.
double Roundings(const Graph& graph) {
  double roundings = 1;
  for (const GraphNode& node : graph.nodes) switch (Info(node.op).kind) {
      case OperationKind::kContraction:
        roundings += TermsOf(graph, node);
        break;
      case OperationKind::kReduction:
        roundings += static_cast<double>(graph.at(node.inputs[0]).type.elements()) /
                     static_cast<double>(node.type.elements());
        break;
      case OperationKind::kRowwise:
        roundings += node.type.dims.back();
        break;
      case OperationKind::kElementwise:
        roundings += kRoundingsEach;
        break;
      default:
        break;
    }
  return roundings;
}

// Of a narrow float, half a unit in the last place, relative.
double HalfUnit(Dtype dtype) {
  return IsFloating(dtype) && dtype != Dtype::kF32 ? std::ldexp(1, -Info(dtype).mantissa - 1) : 0;
}

// As for matmuls (reference.cc), but relative to the largest value that the result has: how large the terms
// of its sums are is not known. What is rounded to a narrow type on the way may come out one unit off, an
// integer one as well.
double Tolerance(const Graph& graph, double largest) {
  const TensorType& out = graph.at(graph.result).type;
  bool floats = false;
  double narrow = 0;
  for (size_t i = static_cast<size_t>(graph.num_inputs()); i < graph.nodes.size(); ++i) {
    floats |= IsFloating(graph.nodes[i].type.dtype);
    if (static_cast<int>(i) != graph.result)
      narrow = std::max(narrow, 2 * HalfUnit(graph.nodes[i].type.dtype));
  }
  if (!IsFloating(out.dtype)) return floats ? 1 : 0;
  return (8 * std::sqrt(Roundings(graph)) * 0x1p-24 + narrow) * largest;
}

}  // namespace

absl::StatusOr<ExpectedResult> ComputeReference(const GraphProblem& problem, const CompiledLoops& loops) {
  const absl::StatusOr<LoopsFn*> run = loops.Load();
  if (!run.ok()) return run.status();
  const TensorType& type = problem.graph->at(problem.graph->result).type;
  const size_t count = static_cast<size_t>(type.elements());
  const AlignedMemory scratch = AllocateAligned(loops.scratch_bytes()),
                      out = AllocateAligned(count * sizeof(double));
  if (scratch == nullptr || out == nullptr)
    return absl::ResourceExhaustedError("no memory for the reference");
  (*run)(problem.inputs.data(), out.get(), static_cast<char*>(scratch.get()), nullptr);
  ExpectedResult reference;
  reference.values.resize(count);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = type.dtype == Dtype::kF32 ? static_cast<const double*>(out.get())[i]
                                                   : LoadElement(out.get(), KirschTypeOf(type.dtype), i);
    reference.values[i] = value;
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  reference.tolerance = Tolerance(*problem.graph, largest);
  reference.relative = 2 * HalfUnit(type.dtype);  // both are rounded
  return reference;
}

OutputCheck CheckOutput(const ExpectedResult& reference, const GraphProblem& problem) {
  const KirschType type = KirschTypeOf(problem.graph->at(problem.graph->result).type.dtype);
  OutputCheck check;
  for (size_t i = 0; i < reference.values.size(); ++i) {
    const double value = reference.values[i];
    if (!std::isfinite(value)) continue;
    const double error = std::abs(LoadElement(problem.out, type, i) - value);
    if (!(error <= reference.tolerance + reference.relative * std::abs(value))) check.correct = false;
    check.max_error =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(check.max_error, error);
  }
  return check;
}

}  // namespace kirsch
