// SPDX-License-Identifier: Apache-2.0
// Bounds how far off a convolution by Winograd's algorithm in f32 may be: docs/exactness.md says why. The
// algorithm computes squares of m x m outputs (m is `tile`) from squares of (m + 2) x (m + 2) inputs.
#ifndef KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_
#define KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_

#include <cstddef>
#include <vector>

#include "spec/uncertain.h"

namespace kirsch {

// Transforms the filters once; At then needs one square of inputs at a time.
class WinogradErrors {
 public:
  // `from`: the filters, [3][3][channel][filter]. `tile`: the side of a square of outputs.
  WinogradErrors(int tile, size_t channels, size_t filters, const std::vector<Uncertain>& from);

  // For each filter, the most that roundings change in the output at row i and column j of its square.
  // `inputs`: the inputs of the square, [m+2][m+2][channel]. The effect of errors that inputs and filters
  // have already is not in it.
  std::vector<double> At(const std::vector<Uncertain>& inputs, size_t i, size_t j) const;

 private:
  // For each transformed element: its value, the largest magnitude that it may have in exact arithmetic, and
  // the error that roundings add.
  struct Transformed {
    std::vector<double> value, most, error;
  };

  // Applies the transform of the filters or of the input to a square whose elements are `length` numbers
  // each.
  static Transformed Transform(int tile, bool filters, size_t length, const std::vector<Uncertain>& from);

  const int tile_;
  const size_t channels_, count_;  // filters
  const Transformed filters_;      // [m+2][m+2][channel][filter]
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_
