// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/expected_result.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "bench/machine/memory.h"
#include "bench/workload/element.h"
#include "spec/element.h"
#include "spec/graph/epilogue_program.h"
#include "spec/meaning/reference.h"
#include "spec/storage.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Applies the epilogue of a placed workload with a spec to a sum. Returns the element of the output, and how
// far off it may be.
Uncertain FinishedSum(const Workload& workload, size_t batch, size_t row, size_t column, Uncertain sum) {
  ConstOperands operands = {};
  for (size_t i = 0; i < workload.operands.size(); ++i) operands[i] = workload.operands[i].values;
  return ApplyEpilogue(*workload.spec, RowProgramOf(*workload.spec), operands, static_cast<int64_t>(batch),
                       static_cast<int64_t>(row), static_cast<int64_t>(column), sum);
}

// Returns `count` different indices below `extent`, ascending. The first and the last one are among them if
// `count` is 2 or more.
std::vector<size_t> SampleIndices(size_t extent, size_t count, std::mt19937& random) {
  std::vector<size_t> all(extent);
  for (size_t i = 0; i < extent; ++i) all[i] = i;
  if (count >= extent) return all;
  std::shuffle(all.begin() + 1, all.end() - 1, random);
  if (count >= 2) std::swap(all[1], all.back());
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

// One matrix of an input, whose elements are loaded one at a time.
struct Operand {
  const void* values;
  KirschType type;
  size_t begin, ld;
  bool col;
  double at(size_t row, size_t column) const {
    return LoadElement(values, type, begin + (col ? column * ld + row : row * ld + column));
  }
};

// Returns half a unit in the last place of a narrow float, relative; 0 of other types.
double HalfUnit(Dtype dtype) {
  return IsFloating(dtype) && dtype != Dtype::kF32 && !IsOfBlocks(dtype)
             ? std::ldexp(1, -Info(dtype).mantissa - 1)
             : 0;
}

// Returns how far off a sum may be. `magnitude` is the sum of its terms' magnitudes. Rounding errors of a sum
// of k products grow as sqrt(k) with all but certainty (Higham and Mary, 2019). The factor is twice the usual
// one, so that only wrong results are beyond it. Products of bf16 pairs (vdpbf16ps) are summed with roundings
// of the same size. The output's own rounding comes on top. Integers are exact.
//
//   f32, k = 1024: 8 * sqrt(1025) * 2^-24 = 1.5e-5 of the magnitude
double ToleranceOfSum(const Workload& workload, double magnitude) {
  const Problem& p = workload.problem;
  if (IsInteger(p.lhs_type)) return 0;
  // Where lhs is rounded to a narrower type, rhs may be, too. Lhs as integers is off by less, since its
  // magnitudes are then the largest of their block.
  const LhsAs as = workload.spec->lhs_as;
  const double factors = as == LhsAs::kItself ? 0 : 2 * HalfUnit(ElementAs(as));
  const double unit = PrecisionOf(AccumulatorOf(static_cast<Dtype>(p.out_type))).unit;
  return (8 * std::sqrt(static_cast<double>(p.k) + 1) * unit + factors) * magnitude;
}

// Returns the sum as the output has it, and how far off that may be: through the epilogue, saturated, or
// rounded.
Uncertain StoredSum(const Workload& workload, size_t batch, size_t row, size_t column, double sum,
                    double tolerance) {
  if (!workload.spec->op_info().epilogue.empty())
    return FinishedSum(workload, batch, row, column, {sum, tolerance});
  const KirschType type = workload.problem.out_type;
  if (type == KIRSCH_S16) return {std::clamp<double>(sum, INT16_MIN, INT16_MAX), 0};
  return {sum, type == KIRSCH_BF16 ? tolerance + 0x1p-8 * (std::abs(sum) + tolerance) : tolerance};
}

// Returns the largest magnitude of the elements that share a scale. An element that is rounded with that
// scale is off by a part of the largest one, so its own magnitude would be too little.
double LargestFrom(const Operand& lhs, size_t row, size_t k, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(lhs.at(row, k + i)));
  return largest;
}

// Computes a grid of entries of one matrix of the batch, and appends them to `reference`.
void SampleMatrix(const Workload& workload, size_t batch, const std::vector<size_t>& rows,
                  const std::vector<size_t>& columns, ExpectedResult& reference) {
  const Problem& p = workload.problem;
  const Operand lhs{p.lhs, p.lhs_type, batch * p.lhs_stride, p.lda, p.lhs_col != 0};
  const Operand rhs{p.rhs, p.rhs_type, batch * p.rhs_stride, p.ldb, p.rhs_col != 0};
  std::vector<long double> sum(rows.size() * columns.size());  // more exact than sums of f64
  std::vector<double> magnitude(sum.size());
  std::vector<double> slice(columns.size()), largest(rows.size());
  const auto block = static_cast<size_t>(workload.spec->lhs_as == LhsAs::kQ8 ? BlockOf(Dtype::kQ8) : 1);
  // Smaller ones are off by as much as that when they are rounded to f16.
  const double least = workload.spec->lhs_as == LhsAs::kF16 ? 0x1p-14 : 0;
  // The reduction is the outer loop, so that each element of the sampled columns is loaded once.
  for (size_t k = 0; k < p.k; ++k) {
    for (size_t j = 0; j < columns.size(); ++j) slice[j] = rhs.at(k, columns[j]);
    for (size_t i = 0; i < rows.size(); ++i) {
      const double a = lhs.at(rows[i], k);
      if (k % block == 0)
        largest[i] = std::max(least, LargestFrom(lhs, rows[i], k, std::min(block, p.k - k)));
      for (size_t j = 0; j < columns.size(); ++j) {
        sum[i * columns.size() + j] += static_cast<long double>(a) * slice[j];
        magnitude[i * columns.size() + j] += std::abs(largest[i] * slice[j]);
      }
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < columns.size(); ++j) {
      // All sums are complete; now the output's old value, epilogue and rounding.
      const size_t offset = batch * p.out_stride + rows[i] * p.ldc + columns[j];
      const double before = p.accumulate ? LoadElement(p.out, p.out_type, offset) : 0;
      const size_t at = i * columns.size() + j;
      const Uncertain stored =
          StoredSum(workload, batch, rows[i], columns[j], static_cast<double>(before + sum[at]),
                    ToleranceOfSum(workload, std::abs(before) + magnitude[at]));
      reference.offsets.push_back(offset);
      reference.values.push_back(stored.value);
      reference.tolerances.push_back(stored.error);
    }
  }
}

// Samples a grid of random rows and columns, in the first and in the last matrix of the batch. The first and
// last of each are always among them. The same grid is drawn each time.
ExpectedResult SampleProduct(const Workload& workload) {
  const Problem& problem = workload.problem;
  std::mt19937 random(20);
  ExpectedResult reference;
  const size_t matrices = std::min<size_t>(problem.batch, 2);
  const size_t entries = kReferenceEntries / matrices;
  for (size_t i = 0; i < matrices; ++i) {
    // As square as the shape allows: 64 by 64 of a large matrix, more of one side if the other is short.
    size_t n_rows = std::min<size_t>(problem.m, 64);
    const size_t n_columns = std::min(problem.n, entries / n_rows);
    n_rows = std::min(problem.m, entries / n_columns);
    const std::vector<size_t> rows = SampleIndices(problem.m, n_rows, random);
    const std::vector<size_t> columns = SampleIndices(problem.n, n_columns, random);
    SampleMatrix(workload, i == 0 ? 0 : problem.batch - 1, rows, columns, reference);
  }
  return reference;
}

// Roundings that an elementwise operation counts as, since implementations of a function differ in their last
// few bits.
constexpr double kRoundingsEach = 16;

// Returns how many roundings are on the way to an element of the result, about: sums count their terms.
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
      case OperationKind::kAlongAxis:
        roundings += node.op == Operation::kCumsum ? node.type.dims[node.axes.front()] : node.along.size;
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

// Returns how far off an element may be. It is as for matmuls, but relative to the result's largest value,
// since it is not known how large the terms of its sums are. A value that is rounded to a narrow type on the
// way may come out one unit off, and so may an integer.
double GraphTolerance(const Graph& graph, const GraphResult& result, double largest) {
  const TensorType& out = graph.TypeOf(result);
  bool floats = false;
  double narrow = 0;
  for (size_t i = static_cast<size_t>(graph.num_inputs()); i < graph.nodes.size(); ++i) {
    floats |= IsFloating(graph.nodes[i].type.dtype);
    if (static_cast<int>(i) != result.value)
      narrow = std::max(narrow, 2 * HalfUnit(graph.nodes[i].type.dtype));
    if (const LhsAs as = graph.nodes[i].lhs_as; as != LhsAs::kItself)
      narrow = std::max(narrow, 2 * HalfUnit(ElementAs(as)));
  }
  // Integers that no float had a part in are exact.
  if (!IsFloating(out.dtype)) return floats ? 1 : 0;
  return (8 * std::sqrt(Roundings(graph)) * 0x1p-24 + narrow) * largest;
}

// Blocks of bits as floats: loops read elements, not blocks.
std::vector<float> Decoded(const TensorType& blocks, const void* data) {
  std::vector<float> elements(static_cast<size_t>(blocks.elements()));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<float>(LoadElement(data, KirschTypeOf(blocks.dtype), i));
  return elements;
}

// Appends all elements of a result, as the loops have computed them, with what others may be off.
void AddElements(const Graph& graph, const GraphResult& result, const void* elements,
                 ExpectedResult* reference) {
  const TensorType& type = graph.TypeOf(result);
  const size_t first = reference->values.size();
  double largest = 0;
  for (int64_t i = 0; i < type.span(); ++i) {
    // Loops for reference have a float64 result where the graph has f32.
    const auto at = static_cast<size_t>(i);
    const double value = type.dtype == Dtype::kF32 ? static_cast<const double*>(elements)[at]
                                                   : LoadElement(elements, KirschTypeOf(type.dtype), at);
    reference->values.push_back(value);
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  // Of a narrow type both are rounded.
  const double tolerance = GraphTolerance(graph, result, largest), relative = 2 * HalfUnit(type.dtype);
  for (size_t i = first; i < reference->values.size(); ++i)
    reference->tolerances.push_back(tolerance + relative * std::abs(reference->values[i]));
}

// Runs the loops of a graph, and returns all of its results.
absl::StatusOr<ExpectedResult> RunReference(const KirschGraph& problem, const CompiledLoops& loops) {
  KIRSCH_ASSIGN_OR_RETURN(LoopsFn* const run, loops.Load());
  const AlignedMemory scratch = AllocateAligned(loops.scratch_bytes());
  std::vector<AlignedMemory> outputs;
  std::vector<void*> results;
  for (const GraphResult& result : problem.graph.results) {
    const size_t bytes = static_cast<size_t>(problem.graph.TypeOf(result).span()) * sizeof(double);
    results.push_back(outputs.emplace_back(AllocateAligned(bytes)).get());
    if (scratch == nullptr || results.back() == nullptr)
      return absl::ResourceExhaustedError("no memory for the reference");
    // Gaps of a result with strides: as FillOutputs has them.
    std::memset(results.back(), 0xff, bytes);
  }
  // Operands as the loops take them.
  std::vector<const void*> inputs(problem.inputs.begin(), problem.inputs.end());
  std::vector<std::vector<float>> decoded;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const TensorType& input = problem.graph.nodes[i].type; IsOfBlocks(input.dtype))
      inputs[i] = decoded.emplace_back(Decoded(input, inputs[i])).data();
  (run)(inputs.data(), results.data(), static_cast<char*>(scratch.get()), nullptr);
  ExpectedResult reference;
  for (size_t i = 0; i < results.size(); ++i)
    AddElements(problem.graph, problem.graph.results[i], results[i], &reference);
  return reference;
}

}  // namespace

absl::StatusOr<ExpectedResult> ComputeReference(const Workload& workload, const CompiledLoops* loops) {
  return workload.graph == nullptr ? SampleProduct(workload) : RunReference(*workload.graph, *loops);
}

namespace {

// A NaN is the largest error of all.
double LargerError(double largest, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
}

}  // namespace

OutputCheck CheckOutput(const ExpectedResult& reference, const Workload& workload) {
  OutputCheck check;
  size_t result = 0, begin = 0;  // the output that an element is of, and the number of its first one
  for (size_t i = 0; i < reference.values.size(); ++i) {
    const bool all = reference.offsets.empty();
    while (all && i == begin + workload.operands[workload.results[result]].elements)
      begin += workload.operands[workload.results[result++]].elements;
    const double value = reference.values[i];
    if (!std::isfinite(value)) continue;
    const Workload::Operand& out = workload.operands[workload.results[result]];
    const double error =
        std::abs(LoadElement(out.values, out.type, all ? i - begin : reference.offsets[i]) - value);
    const double most = reference.tolerances[i];
    // The negation counts a NaN as wrong.
    if (!(error <= most)) check.correct = false;
    check.max_error = LargerError(check.max_error, error);
    check.error_share = LargerError(check.error_share, error == 0 ? 0 : error / most);
  }
  return check;
}

}  // namespace kirsch
