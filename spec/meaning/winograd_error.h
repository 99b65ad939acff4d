// SPDX-License-Identifier: Apache-2.0
// How far off a convolution by Winograd's algorithm in f32 may be: docs/exactness.md says why.
#ifndef KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_
#define KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_

#include <cstddef>
#include <vector>

#include "spec/uncertain.h"

namespace kirsch {

class WinogradErrors {
 public:
  // `from`: [3][3][channel][filter].
  WinogradErrors(int tile, size_t channels, size_t filters, const std::vector<Uncertain>& from);

  // What roundings make of the output at row i and column j of its square, for each filter; `inputs`: those
  // of the square, [m+2][m+2][channel]. What the errors of inputs and filters make of it comes on top.
  std::vector<double> At(const std::vector<Uncertain>& inputs, size_t i, size_t j) const;

 private:
  // Of a transformed element: as it should be, the most it may be in exact arithmetic, what roundings add.
  struct Transformed {
    std::vector<double> value, most, error;
  };

  // The step's transform of a square whose elements are `length` numbers each.
  static Transformed Transform(int tile, bool filters, size_t length, const std::vector<Uncertain>& from);

  const int tile_;
  const size_t channels_, count_;  // filters
  const Transformed filters_;      // [m+2][m+2][channel][filter]
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_WINOGRAD_ERROR_H_
