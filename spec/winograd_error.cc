#include "spec/winograd_error.h"

#include <cmath>

#include "spec/winograd.h"

namespace kirsch {
namespace {

// |map| x |map|^T, of squares whose elements are vectors of so many numbers.
std::vector<double> MapMagnitudes(const WinogradMap& map, size_t length, const std::vector<double>& from) {
  const WinogradMatrix matrix = map.Product();
  const auto inputs = static_cast<size_t>(matrix.columns), outputs = static_cast<size_t>(matrix.rows);
  std::vector<double> to(outputs * outputs * length);
  for (size_t i = 0; i < outputs; ++i)
    for (size_t j = 0; j < outputs; ++j)
      for (size_t y = 0; y < inputs; ++y)
        for (size_t x = 0; x < inputs; ++x) {
          const double factor = std::abs(matrix.at[i][y] * matrix.at[j][x]);
          if (factor == 0) continue;
          for (size_t k = 0; k < length; ++k)
            to[(i * outputs + j) * length + k] += factor * from[(y * inputs + x) * length + k];
        }
  return to;
}

}  // namespace

WinogradMagnitudes::WinogradMagnitudes(int tile, size_t channels, size_t filters,
                                       const std::vector<double>& magnitudes)
    : tile_(tile),
      channels_(channels),
      filters_(filters),
      transformed_(
          MapMagnitudes(WinogradMapOf(tile, WinogradStep::kFilters), channels * filters, magnitudes)) {}

std::vector<double> WinogradMagnitudes::At(const std::vector<double>& inputs, size_t i, size_t j) const {
  const std::vector<double> mapped =
      MapMagnitudes(WinogradMapOf(tile_, WinogradStep::kInput), channels_, inputs);
  const WinogradMatrix output = WinogradMapOf(tile_, WinogradStep::kOutput).Product();
  const auto side = static_cast<size_t>(WinogradInputs(tile_));
  std::vector<double> sums(filters_);
  for (size_t y = 0; y < side; ++y)
    for (size_t x = 0; x < side; ++x) {
      const double factor = std::abs(output.at[i][y] * output.at[j][x]);
      if (factor == 0) continue;
      for (size_t c = 0; c < channels_; ++c) {
        const double input = factor * mapped[(y * side + x) * channels_ + c];
        const double* const row = transformed_.data() + ((y * side + x) * channels_ + c) * filters_;
        for (size_t f = 0; f < filters_; ++f) sums[f] += input * row[f];
      }
    }
  return sums;
}

}  // namespace kirsch
