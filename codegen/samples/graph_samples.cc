// SPDX-License-Identifier: Apache-2.0
#include "codegen/samples/graph_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "codegen/samples/block_samples.h"
#include "spec/element_array.h"
#include "spec/meaning/graph_reference.h"

namespace kirsch {
namespace {

// A linear congruential generator: the C text has the same.
constexpr uint32_t kFactor = 1664525, kTerm = 1013904223;

// Returns what `seed` is so many elements later, in a logarithmic number of steps: s * factor + term, applied
// twice, is again of that form.
uint32_t SeedAfter(uint32_t seed, int64_t elements) {
  uint32_t factor = kFactor, term = kTerm;  // of 1, 2, 4, ... elements
  for (; elements > 0; elements /= 2) {
    if (elements % 2 != 0) seed = seed * factor + term;
    term += term * factor;
    factor *= factor;
  }
  return seed;
}

uint32_t SeedOf(int parameter) { return static_cast<uint32_t>(parameter) + 1; }

// Makes elements of a parameter that is not of blocks, as SampleBits says.
void ReadSamples(Dtype dtype, uint32_t seed, int64_t first, int64_t count, double* to) {
  const int words = SampleWords(dtype), bits_of_word = 8 * Bytes(dtype) / words;
  const SampleBits bits = SampleBitsOf(dtype);
  seed = SeedAfter(seed, words * first);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t element = 0;
    for (int word = 0; word < words; ++word) {
      seed = seed * kFactor + kTerm;
      element |= uint64_t{(seed >> (32 - bits_of_word) & bits.keep) | bits.set} << (32 * word);
    }
    to[i] = LoadElement(dtype, &element, 0);
  }
}

// Returns a reader of all parameters. Elements that are not kept are made when they are read, but for blocks.
ReadParameter SampledParameters(const Graph& graph, KeptElements& kept) {
  std::vector<std::vector<std::byte>> blocks;
  for (int i = 0; i < graph.num_inputs(); ++i) {
    const TensorType& type = graph.at(i).type;
    blocks.push_back(IsOfBlocks(type.dtype) ? SampledBlocks(type.dtype, type.elements())
                                            : std::vector<std::byte>());
  }
  return [&, blocks = std::move(blocks)](int parameter, int64_t first, int64_t count, double* to) {
    const Dtype dtype = graph.at(parameter).type.dtype;
    if (IsOfBlocks(dtype))
      LoadRun(dtype, blocks[static_cast<size_t>(parameter)].data(), first, 1, count, to);
    else if (const double* const elements = kept.Find(parameter, dtype, first + count))
      std::copy_n(elements + first, count, to);
    else
      ReadSamples(dtype, SeedOf(parameter), first, count, to);
  };
}

// Returns the first, one between, and the last.
std::array<int64_t, 3> SomeOf(int64_t count) { return {0, count / 2, count - 1}; }

// Rows and columns are combined to nine elements, or to three on a diagonal. It is a set, as small results
// have the same element more than once.
std::set<int64_t> SampledElements(int64_t all_rows, int64_t length, SampleCount count) {
  const auto rows = SomeOf(all_rows), columns = SomeOf(length);
  std::set<int64_t> elements;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      if (count == SampleCount::kNine || i == j) elements.insert(rows[i] * length + columns[j]);
  return elements;
}

}  // namespace

SampleBits SampleBitsOf(Dtype dtype) {
  if (!IsFloating(dtype)) return {0x7f, 0};
  // Of both words of an f64 what the upper one has to be.
  if (dtype == Dtype::kF64) return {0x800fffff, 0x3fe00000};
  return {SignBit(dtype) | MantissaBits(dtype), PowerOfTwoBits(dtype, -1)};
}

const double* KeptElements::Find(int parameter, Dtype dtype, int64_t end) {
  constexpr int64_t kMostKept = int64_t{1} << 23;  // of all parameters: 64 MiB
  const auto at = static_cast<size_t>(parameter);
  if (at >= of_parameter_.size()) of_parameter_.resize(at + 1);
  std::vector<double>& elements = of_parameter_[at];
  const int64_t known = std::ssize(elements), more = end - known;
  if (more <= 0) return elements.data();
  if (kept_ + more > kMostKept) return nullptr;
  kept_ += more;
  elements.resize(static_cast<size_t>(end));
  ReadSamples(dtype, SeedOf(parameter), known, more, elements.data() + known);
  return elements.data();
}

GraphSamples MakeSamples(const Graph& graph, const std::map<int, int>& winograd, SampleCount count) {
  KeptElements kept;
  return MakeSamples(graph, winograd, count, kept);
}

GraphSamples MakeSamples(const Graph& graph, const std::map<int, int>& winograd, SampleCount count,
                         KeptElements& kept) {
  GraphSamples result;
  for (int i = 0; i < graph.num_inputs(); ++i) {
    const TensorType& type = graph.at(i).type;
    result.elements.push_back(type.span());
    result.constant.push_back(graph.IsConstant(i));
  }
  for (const GraphResult& of : graph.results) result.elements.push_back(graph.TypeOf(of).span());
  if (count == SampleCount::kNone) return result;
  GraphReference reference(graph, SampledParameters(graph, kept), winograd);
  for (size_t i = 0; i < graph.results.size(); ++i) {
    const TensorType& type = graph.TypeOf(graph.results[i]);
    const int64_t length = GraphReference::RowLength(type);
    for (int64_t element : SampledElements(GraphReference::Rows(type), length, count)) {
      const int64_t row = element / length, column = element % length;
      const Uncertain value = reference.ResultRow(graph.results[i], row)[static_cast<size_t>(column)];
      if (std::isfinite(value.value) && std::isfinite(value.error))
        result.samples.push_back(
            {i, GraphReference::StartOfRow(type, row) + column, value.value, value.error});
    }
  }
  return result;
}

}  // namespace kirsch
