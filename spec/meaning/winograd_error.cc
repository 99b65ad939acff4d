// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/winograd_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/winograd.h"

namespace kirsch {
namespace {

// Bounds the relative error of n roundings to f32: (1 + u)^n - 1 <= n u / (1 - n u), where u = 2^-24.
double Gamma(int64_t n) {
  const double nu = static_cast<double>(n) * 0x1p-24;
  return nu < 0.5 ? nu / (1 - nu) : HUGE_VAL;
}

// A transform is applied along both sides of a square, so each element goes through its roundings twice.
double SquareGamma(int tile, WinogradStep step) { return Gamma(2 * WinogradMapOf(tile, step).Roundings()); }

}  // namespace

WinogradErrors::Transformed WinogradErrors::Transform(int tile, bool filters, size_t length,
                                                      const std::vector<Uncertain>& from) {
  const WinogradStep step = filters ? WinogradStep::kFilters : WinogradStep::kInput;
  const WinogradMatrix matrix = WinogradMapOf(tile, step).Product();
  const auto inputs = static_cast<size_t>(matrix.columns), outputs = static_cast<size_t>(matrix.rows);
  const double gamma = SquareGamma(tile, step);
  Transformed to;
  for (std::vector<double>* list : {&to.value, &to.most, &to.error}) list->resize(outputs * outputs * length);
  // Each element of the transformed square is a sum over the square, with these factors.
  for (size_t square = 0; square < outputs * outputs; ++square) {
    const size_t first = square * length;
    for (size_t at = 0; at < inputs * inputs; ++at) {
      const double factor =
          matrix.at[square / outputs][at / inputs] * matrix.at[square % outputs][at % inputs];
      if (factor == 0) continue;
      for (size_t k = 0; k < length; ++k) {
        const Uncertain& x = from[at * length + k];
        to.value[first + k] += factor * x.value;
        // The errors that elements have already count as a part of the element, not as an error of this step.
        to.most[first + k] += std::abs(factor) * x.error;
        to.error[first + k] += std::abs(factor) * gamma * (std::abs(x.value) + x.error);
      }
    }
    // So far `most` has only these errors; with the value it is the largest magnitude.
    for (size_t k = first; k < first + length; ++k) to.most[k] += std::abs(to.value[k]);
  }
  return to;
}

WinogradErrors::WinogradErrors(int tile, size_t channels, size_t filters, const std::vector<Uncertain>& from)
    : tile_(tile),
      channels_(channels),
      count_(filters),
      filters_(Transform(tile, true, channels * filters, from)) {}

std::vector<double> WinogradErrors::At(const std::vector<Uncertain>& inputs, size_t i, size_t j) const {
  const Transformed input = Transform(tile_, false, channels_, inputs);
  const WinogradMatrix output = WinogradMapOf(tile_, WinogradStep::kOutput).Product();
  // The sum over channels and the last transform round, too.
  const double sums = Gamma(static_cast<int64_t>(channels_)),
               last = SquareGamma(tile_, WinogradStep::kOutput);
  const auto side = static_cast<size_t>(WinogradInputs(tile_));
  std::vector<double> errors(count_), sum(count_), magnitude(count_), most(count_), error(count_);
  // The output is a sum over the transformed square; each of its elements is a sum over channels.
  for (size_t square = 0; square < side * side; ++square) {
    const double factor = std::abs(output.at[i][square / side] * output.at[j][square % side]);
    if (factor == 0) continue;
    for (std::vector<double>* list : {&sum, &magnitude, &most, &error}) std::ranges::fill(*list, 0);
    for (size_t c = 0; c < channels_; ++c) {
      const size_t x = square * channels_ + c, first = x * count_;
      for (size_t f = 0; f < count_; ++f) {
        const double product = input.value[x] * filters_.value[first + f];
        sum[f] += product;
        magnitude[f] += std::abs(product);
        most[f] += input.most[x] * filters_.most[first + f];
        // A product is off by the errors of both factors, and by their product.
        error[f] += input.most[x] * filters_.error[first + f] +
                    input.error[x] * (filters_.most[first + f] + filters_.error[first + f]);
      }
    }
    for (size_t f = 0; f < count_; ++f) {
      // All roundings of this element's sum, and the largest magnitude that the last transform meets.
      const double off = error[f] + sums * (most[f] + error[f]);
      const double largest = std::abs(sum[f]) + (most[f] - magnitude[f]) + off;
      // Beyond f32's range nothing can be said.
      const bool overflows = most[f] + off > std::numeric_limits<float>::max();
      errors[f] += overflows ? HUGE_VAL : factor * (off + last * largest);
    }
  }
  return errors;
}

}  // namespace kirsch
