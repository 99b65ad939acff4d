// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/known_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "codegen/samples/block_data.h"
#include "codegen/samples/weight_scale.h"
#include "codegen/verify/verify_run.h"
#include "spec/element_array.h"
#include "spec/meaning/graph_reference.h"

namespace kirsch {
namespace {

constexpr int64_t kSampledRows = 24;
// The reference of a graph takes some fifty times as long as that of a contraction. So a graph is compared in
// full only if it has this share of the flops.
constexpr double kShareInFull = 0.02;
constexpr double kMostInteger = 100, kMostWide = 8;
constexpr double kBeyondIntegers = 0x1p40;
constexpr int64_t kSometimes = 5;

// True if the node is cast to integers. Then some of its values are beyond their range.
bool BecomesInteger(const Graph& graph, int node) {
  return std::ranges::any_of(graph.nodes, [&](const GraphNode& at) {
    return at.op == Operation::kCast && at.inputs[0] == node && !IsFloating(at.type.dtype);
  });
}

// Draws from all integers of the type. One in four is an end of the range.
int64_t AnyInteger(Dtype dtype, std::mt19937_64& random) {
  const uint64_t way = random() % 8;
  if (way < 2) return way == 0 ? LeastOf(dtype) : MostOf(dtype);
  return std::uniform_int_distribution<int64_t>(LeastOf(dtype), MostOf(dtype))(random);
}

// Returns the ranges between the first and the last element in which no element lies, ascending. Rows may be
// in memory in another order than in the tensor, so they are sorted first.
std::vector<std::pair<int64_t, int64_t>> FindGaps(const TensorType& type) {
  if (type.dense()) return {};
  std::vector<int64_t> starts;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    starts.push_back(GraphReference::StartOfRow(type, row));
  std::ranges::sort(starts);
  std::vector<std::pair<int64_t, int64_t>> gaps;
  int64_t end = 0;
  for (int64_t start : starts) {
    if (start > end) gaps.emplace_back(end, start);
    end = start + GraphReference::RowLength(type);
  }
  return gaps;
}

}  // namespace

GraphProblem::GraphProblem(const Graph& graph, std::map<int, int> winograd)
    : graph_(graph), winograd_(std::move(winograd)) {
  for (int i = 0; i < graph.num_inputs(); ++i)
    tensors_.push_back({graph.at(i).text, graph.at(i).type.dtype, graph.at(i).type.span()});
  for (const GraphResult& result : graph.results) {
    const TensorType& type = graph.TypeOf(result);
    outputs_.push_back(
        {tensors_.size(), result.name, type.dtype, {type.dims.begin(), type.dims.end()}, type.Strides()});
    // A scalar is a row of one element.
    if (type.dims.empty()) outputs_.back().sizes = outputs_.back().strides = {1};
    tensors_.push_back({result.name, type.dtype, type.span()});
  }
  flops_ = Flops(graph);
}

std::array<InputKind, 3> GraphProblem::Kinds() const {
  const bool integers = std::any_of(tensors_.begin(), tensors_.begin() + graph_.num_inputs(),
                                    [](const ProblemTensor& tensor) { return !IsFloating(tensor.dtype); });
  return {InputKind::kUniform, integers ? InputKind::kFullRange : InputKind::kWide, InputKind::kWide};
}

int64_t GraphProblem::MostRows(double most_flops_in_full) const {
  return flops_ <= kShareInFull * most_flops_in_full ? std::numeric_limits<int64_t>::max() : kSampledRows;
}

void GraphProblem::Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const {
  const auto& [name, dtype, elements] = tensors_[tensor];
  if (IsOutput(tensor)) return FillPoison(dtype, static_cast<size_t>(elements * Bytes(dtype)), data);
  std::mt19937_64 random((seed * 8 + static_cast<uint64_t>(kind)) * 32 + tensor);
  if (IsOfBlocks(dtype))
    return FillBlocks(dtype, kind, elements / BlockOf(dtype), [&](int64_t) { return random(); }, data);
  std::uniform_real_distribution<double> real(-1, 1);
  const bool floating = IsFloating(dtype);
  const bool wide = kind != InputKind::kUniform;
  // Values are between -most and most.
  const double most = !floating ? std::min(static_cast<double>(MostOf(dtype)), kMostInteger)
                                : WeightScale(graph_, static_cast<int>(tensor)) * (wide ? kMostWide : 1);
  const bool beyond = (dtype == Dtype::kF32 || dtype == Dtype::kBf16) && wide &&
                      BecomesInteger(graph_, static_cast<int>(tensor));
  if (!floating && kind == InputKind::kFullRange) {
    for (int64_t i = 0; i < elements; ++i)
      StoreElement(dtype, static_cast<double>(AnyInteger(dtype, random)), data, i);
    return PoisonGaps(tensor, data);
  }
  for (int64_t i = 0; i < elements; ++i) {
    double value = floating ? real(random) * most : std::nearbyint(real(random) * most);
    if (beyond && i % kSometimes == 1) value *= kBeyondIntegers;
    StoreElement(dtype, !floating && LeastOf(dtype) == 0 ? std::abs(value) : value, data, i);
  }
  PoisonGaps(tensor, data);
}

// Elements between a parameter's rows must not be computed from.
void GraphProblem::PoisonGaps(size_t tensor, void* data) const {
  const auto& [name, dtype, elements] = tensors_[tensor];
  for (const auto& [begin, end] : FindGaps(graph_.at(static_cast<int>(tensor)).type))
    FillPoison(dtype, static_cast<size_t>((end - begin) * Bytes(dtype)),
               static_cast<char*>(data) + begin * Bytes(dtype));
}

// All of an output was poison before the run, the gaps too.
bool GraphProblem::GapsIntact(const ProblemOutput& output, const void* out) const {
  std::vector<char> untouched;
  for (const auto& [begin, end] : FindGaps(graph_.TypeOf(ResultOf(output)))) {
    const auto bytes = static_cast<size_t>((end - begin) * Bytes(output.dtype));
    untouched.resize(std::max(untouched.size(), bytes));
    FillPoison(output.dtype, bytes, untouched.data());
    if (memcmp(static_cast<const char*>(out) + begin * Bytes(output.dtype), untouched.data(), bytes) != 0)
      return false;
  }
  return true;
}

Oracle GraphProblem::Expect(InputKind, absl::Span<void* const> tensors, const ProblemOutput& output,
                            std::vector<int64_t> rows) const {
  GraphReference reference(
      graph_, std::vector<const void*>(tensors.begin(), tensors.begin() + graph_.num_inputs()), winograd_);
  Oracle oracle;
  for (int64_t row : rows)
    for (const Uncertain& element : reference.ResultRow(ResultOf(output), row)) {
      oracle.value.push_back(element.value);
      // An error that is no number allows anything.
      oracle.most.push_back(std::isnan(element.error) ? HUGE_VAL : element.error);
    }
  oracle.rows = std::move(rows);
  return oracle;
}

}  // namespace kirsch
