// How far off a convolution by Winograd's algorithm in f32 may be.
#ifndef KIRSCH_SPEC_WINOGRAD_ERROR_H_
#define KIRSCH_SPEC_WINOGRAD_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kirsch {

// What stands for the sum of the products' magnitudes (README.md):
//   |A|^T (sum over channels of (|G| |g| |G|^T) o (|B|^T |d| |B|)) |A|
class WinogradMagnitudes {
 public:
  // `filters`: magnitudes [3][3][channel][filter].
  WinogradMagnitudes(int tile, size_t channels, size_t filters, const std::vector<double>& magnitudes);

  // Of the output at row i and column j of its square, for each filter; `inputs`: magnitudes
  // [m+2][m+2][channel] of the square's.
  std::vector<double> At(const std::vector<double>& inputs, size_t i, size_t j) const;

 private:
  const int tile_;
  const size_t channels_, filters_;
  const std::vector<double> transformed_;  // |G| |g| |G|^T: [m+2][m+2][channel][filter]
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINOGRAD_ERROR_H_
