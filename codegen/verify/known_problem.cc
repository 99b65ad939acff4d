// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/known_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// One byte repeated, so that the same fill suits elements of any width.
constexpr int kNaNByte = 0xff, kIntegerByte = 0x7b;

// True if element number `index` is the one that stands for `expected`, bit for bit. -0 is not 0.
bool SameBits(Dtype dtype, const void* data, int64_t index, double expected) {
  const size_t bytes = static_cast<size_t>(Bytes(dtype));
  std::array<char, sizeof(double)> wanted;
  StoreElement(dtype, expected, wanted.data(), 0);
  return memcmp(static_cast<const char*>(data) + static_cast<size_t>(index) * bytes, wanted.data(), bytes) ==
         0;
}

absl::Status Mismatch(const std::string& element, Dtype dtype, double expected, double got,
                      double tolerance) {
  const int digits = dtype == Dtype::kF64 ? 17 : 9;  // that tell its elements apart
  return absl::DataLossError(absl::StrFormat("%s: expected %.*g, got %.*g (tolerance %.3g)", element, digits,
                                             expected, digits, got, tolerance));
}

}  // namespace

const char* Name(InputKind kind) {
  constexpr std::array<const char*, 5> kNames = {"integers", "even floats", "wide floats", "spread floats",
                                                 "integers of full range"};
  return kNames[static_cast<size_t>(kind)];
}

// An element takes about as long to make and to check as 20 flops.
double KnownProblem::work() const {
  constexpr double kFlopsPerElement = 20;
  double elements = 0;
  for (const ProblemTensor& tensor : tensors_) elements += static_cast<double>(tensor.elements);
  return flops_ + kFlopsPerElement * elements;
}

bool KnownProblem::IsOutput(size_t tensor) const {
  return std::ranges::any_of(outputs_, [=](const ProblemOutput& output) { return output.tensor == tensor; });
}

int64_t ProblemOutput::rows() const {
  return std::accumulate(sizes.begin(), sizes.end() - 1, int64_t{1}, std::multiplies<int64_t>());
}

int64_t ProblemOutput::RowStart(int64_t row) const {
  int64_t start = 0;
  // The last of the other axes is the row number's lowest digit.
  for (size_t axis = sizes.size() - 1; axis-- > 0; row /= sizes[axis])
    start += row % sizes[axis] * strides[axis];
  return start;
}

std::string ProblemOutput::Name(int64_t row, int64_t column) const {
  std::string indices = Cat("[", column, "]");
  for (size_t axis = sizes.size() - 1; axis-- > 0; row /= sizes[axis])
    indices = Cat("[", row % sizes[axis], "]", indices);
  return Cat(name, indices);
}

void FillPoison(Dtype dtype, size_t bytes, void* data) {
  memset(data, IsFloating(dtype) ? kNaNByte : kIntegerByte, bytes);
}

double Poison(Dtype dtype) {
  std::string element(static_cast<size_t>(Bytes(dtype, BlockOf(dtype))), '\0');  // or a whole block of them
  FillPoison(dtype, element.size(), element.data());
  return LoadElement(dtype, element.data(), 0);
}

std::vector<int64_t> ChooseRows(int64_t all, int64_t most, uint64_t seed) {
  std::vector<int64_t> rows;
  if (all <= most) {
    rows.resize(static_cast<size_t>(all));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  std::mt19937_64 random(seed);
  // The first and the last row are where kernels go wrong at edges.
  rows = {0, all - 1};
  while (static_cast<int64_t>(rows.size()) < most)
    rows.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(all)));
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<int64_t> SuspectRows(const ProblemOutput& shape, const void* out, size_t most) {
  const double poison = Poison(shape.dtype);
  // Sorted by the first number, rows with most suspect elements are first; equal ones by their place.
  std::vector<std::pair<int64_t, int64_t>> suspects;  // elements, negative; row
  std::vector<double> got(static_cast<size_t>(shape.row_length()));
  for (int64_t row = 0; row < shape.rows(); ++row) {
    LoadRun(shape.dtype, out, shape.RowStart(row), shape.strides.back(), shape.row_length(), got.data());
    const auto elements = std::ranges::count_if(got, [&](double x) { return std::isnan(x) || x == poison; });
    if (elements > 0) suspects.emplace_back(-elements, row);
  }
  most = std::min(most, suspects.size());
  std::partial_sort(suspects.begin(), suspects.begin() + static_cast<std::ptrdiff_t>(most), suspects.end());
  std::vector<int64_t> rows;
  for (size_t i = 0; i < most; ++i) rows.push_back(suspects[i].second);
  return rows;
}

absl::Status CheckRows(const ProblemOutput& shape, const Oracle& oracle, const void* out, double* max_error) {
  const size_t length = static_cast<size_t>(shape.row_length());
  std::vector<double> got(length);
  for (size_t r = 0; r < oracle.rows.size(); ++r) {
    const int64_t start = shape.RowStart(oracle.rows[r]);
    LoadRun(shape.dtype, out, start, shape.strides.back(), shape.row_length(), got.data());
    for (size_t j = 0; j < length; ++j) {
      const double expected = oracle.value[r * length + j], most = oracle.most[r * length + j];
      if (std::isnan(expected) || std::isinf(most)) continue;
      const int64_t column = static_cast<int64_t>(j);
      // Equal infinities differ by nothing, though their difference is no number.
      const double error = got[j] == expected ? 0 : std::abs(got[j] - expected);
      const bool right = oracle.bits && most == 0
                             ? SameBits(shape.dtype, out, start + column * shape.strides.back(), expected)
                             : error <= most;
      if (!right) return Mismatch(shape.Name(oracle.rows[r], column), shape.dtype, expected, got[j], most);
      const double scale = oracle.scale.empty() ? most : oracle.scale[r * length + j];
      if (error > 0 && scale > 0) *max_error = std::max(*max_error, error / scale);
    }
  }
  return absl::OkStatus();
}

}  // namespace kirsch
