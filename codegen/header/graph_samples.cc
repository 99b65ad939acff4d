#include "codegen/header/graph_samples.h"

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "codegen/header/block_samples.h"
#include "spec/graph/reference.h"

namespace kirsch {
namespace {

std::vector<std::byte> Filled(const TensorType& type, uint32_t seed) {
  if (IsOfBlocks(type.dtype)) return SampledBlocks(type.dtype, type.elements());
  const auto bytes = static_cast<size_t>(Bytes(type.dtype));
  const SampleBits bits = SampleBitsOf(type.dtype);
  std::vector<std::byte> data(bytes * static_cast<size_t>(type.span()));
  for (size_t at = 0; at < data.size(); at += bytes) {
    seed = seed * 1664525 + 1013904223;
    const uint32_t element = (seed >> (32 - 8 * bytes) & bits.keep) | bits.set;
    memcpy(&data[at], &element, bytes);
  }
  return data;
}

// The first, one between, and the last.
std::array<int64_t, 3> SomeOf(int64_t count) { return {0, count / 2, count - 1}; }

}  // namespace

SampleBits SampleBitsOf(Dtype dtype) {
  if (!IsFloating(dtype)) return {0x7f, 0};
  return {SignBit(dtype) | MantissaBits(dtype), PowerOfTwoBits(dtype, -1)};
}

GraphSamples SamplesOf(const Graph& graph, const std::map<int, int>& winograd, bool few) {
  GraphSamples result;
  std::vector<std::vector<std::byte>> parameters;
  std::vector<const void*> pointers;
  for (int i = 0; i < graph.num_inputs(); ++i) {
    const TensorType& type = graph.at(i).type;
    parameters.push_back(Filled(type, static_cast<uint32_t>(i) + 1));
    pointers.push_back(parameters.back().data());
    result.elements.push_back(type.span());
    result.constant.push_back(graph.IsConstant(i));
  }
  const TensorType& type = graph.at(graph.result).type;
  result.elements.push_back(type.span());
  const int64_t length = GraphReference::RowLength(type);
  GraphReference reference(graph, std::move(pointers), winograd);
  const auto rows = SomeOf(GraphReference::Rows(type)), columns = SomeOf(length);
  std::set<int64_t> elements;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      if (!few || i == j) elements.insert(rows[i] * length + columns[j]);
  for (int64_t element : elements) {
    const Uncertain value = reference.ResultRow(element / length)[static_cast<size_t>(element % length)];
    if (std::isfinite(value.value) && std::isfinite(value.error))
      result.samples.push_back(
          {GraphReference::StartOfRow(type, element / length) + element % length, value.value, value.error});
  }
  return result;
}

}  // namespace kirsch
