// SPDX-License-Identifier: Apache-2.0
// Describes Winograd's algorithm for 3x3 convolutions, F(m x m, 3x3) with m = 2 or 4 [Lavin and Gray, Fast
// Algorithms for Convolutional Neural Networks, 2015]. It multiplies less than the sums of a convolution do:
// for m = 4, 36 products instead of 144 for each channel and square. A square of m x m outputs is
//
//   A^T ((sum over channels of (G g G^T) o (B^T d B)) A,     o: element by element
//
// of 3x3 filters g and squares d of (m+2) x (m+2) inputs. The sums are (m+2)^2 matmuls. How far off the
// results may be: docs/exactness.md.
#ifndef KIRSCH_SPEC_WINOGRAD_H_
#define KIRSCH_SPEC_WINOGRAD_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/dtype.h"
#include "spec/epilogue.h"

namespace kirsch {

inline constexpr int kWinogradKernel = 3;        // sides of the filters
inline constexpr int kWinogradTiles[] = {2, 4};  // m
inline constexpr int kMostWinogradInputs = 6;    // m + 2

constexpr int WinogradInputs(int tile) { return tile + kWinogradKernel - 1; }
// The elements of a transformed square, each of which is a matmul.
constexpr int WinogradMatmuls(int tile) { return WinogradInputs(tile) * WinogradInputs(tile); }

// The elements from a matrix of `elements` to the next: an odd number of lines, so that the same element of
// each is in another set of L1.
constexpr int64_t MatrixStride(int64_t elements) {
  constexpr int64_t kLine = 64 / Bytes(Dtype::kF32);
  return ((elements + kLine - 1) / kLine | 1) * kLine;
}

// "F(4x4,3x3)".
std::string WinogradName(int tile);

// The steps of the algorithm besides the matmuls.
enum class WinogradStep : uint8_t {
  kFilters,  // G g G^T
  kInput,    // B^T d B
  kOutput,   // A^T x A
};

// A small matrix; elements beyond its rows and columns are 0.
struct WinogradMatrix {
  int rows = 0, columns = 0;
  std::array<std::array<double, kMostWinogradInputs>, kMostWinogradInputs> at = {};
};

// A matrix as a product of two. Rows (or columns) that differ in signs have terms in common, which are then
// computed once. Nothing cancels out in the product: |second first| = |second| |first|.
struct WinogradMap {
  WinogradMatrix second, first;

  int inputs() const { return first.columns; }
  int outputs() const { return second.rows; }
  WinogradMatrix Product() const;
  // The instructions that map a vector of each input to one of each output: sums, products, or both in one.
  int Operations() const;
  // The most roundings to f32 that an input goes through, those of the coefficients included.
  int Roundings() const;
};

// The map along one of the two axes of a square, the same for both. `tile`: m.
const WinogradMap& WinogradMapOf(int tile, WinogradStep step);

// Squares side by side along an axis of an image. They may reach beyond the image: some elements are not
// there.
struct TransformAxis {
  int64_t squares = 1;
  int64_t before = 0;  // elements of the first square before those that are there
  int64_t inside = 0;  // elements that are there
  int64_t stride = 0;  // from one to the next in memory

  friend auto operator<=>(const TransformAxis&, const TransformAxis&) = default;
};

// Consecutive squares that have the same elements, from `begin` to `end` of each.
struct TransformRun {
  int64_t squares = 0;
  int begin = 0, end = 0;
};

// A step for many squares. Each of their elements is `rows` runs of `columns` numbers: channels, or filters.
// On one side is the image (kFilters: the filters, a single square). Elements of it may be missing: they are
// read as zeros, or are not stored. On the other side are the transformed squares: for each of their elements
// a dense matrix [square, row][column], MatrixStride from one to the next.
struct TransformShape {
  WinogradStep step = WinogradStep::kInput;
  int tile = 2;                       // m
  int node = -1;                      // the graph's convolution that it is for
  std::array<TransformAxis, 2> axes;  // of the image: from top to bottom, from left to right
  int64_t rows = 1, columns = 1;
  int64_t row_stride = 0;  // of runs, in the image
  Epilogue epilogue = {};  // kOutput: on its way, a pixel being a row of the epilogue's
  Dtype stored = Dtype::kF32;

  const WinogradMap& map() const { return WinogradMapOf(tile, step); }
  bool stores_image() const { return step == WinogradStep::kOutput; }
  // The side of a square in the image, in elements.
  int window() const { return stores_image() ? map().outputs() : map().inputs(); }
  int64_t squares() const { return axes[0].squares * axes[1].squares; }
  int64_t matrix_stride() const { return MatrixStride(squares() * rows * columns); }
  int64_t transformed() const { return WinogradMatmuls(tile) * matrix_stride(); }
  // The squares along an axis, in runs of those that have the same elements; the first and the last may lack
  // some.
  std::vector<TransformRun> Runs(size_t axis) const;
  // A part of an identifier, for the procedure's name. It is unique among shapes that differ in more than
  // `node`.
  std::string Name() const;
  friend auto operator<=>(const TransformShape&, const TransformShape&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_WINOGRAD_H_
