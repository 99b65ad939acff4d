// SPDX-License-Identifier: Apache-2.0
#include "spec/winograd.h"

#include <algorithm>
#include <cmath>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// For maps that are a single matrix.
constexpr WinogradMatrix Identity(int size) {
  WinogradMatrix identity{size, size, {}};
  for (size_t i = 0; i < static_cast<size_t>(size); ++i) identity.at[i][i] = 1;
  return identity;
}

// The maps of m = 2, from interpolation at 0, 1, -1 and infinity. Each is {second, first}; zeros at the end
// of a row are left out.
constexpr WinogradMap kFilters2 = {{4, 4, {{{1}, {0, 1, 1}, {0, 1, -1}, {0, 0, 0, 1}}}},
                                   {4, 3, {{{1}, {0.5, 0, 0.5}, {0, 0.5}, {0, 0, 1}}}}};
constexpr WinogradMap kInput2 = {Identity(4), {4, 4, {{{1, 0, -1}, {0, 1, 1}, {0, -1, 1}, {0, 1, 0, -1}}}}};
constexpr WinogradMap kOutput2 = {Identity(2), {2, 4, {{{1, 1, 1}, {0, 1, -1, -1}}}}};

// The maps of m = 4, from interpolation at 0, 1, -1, 2, -2 and infinity.
constexpr WinogradMap kFilters4 = {
    {6, 6, {{{1}, {0, 1, 1}, {0, 1, -1}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, -1}, {0, 0, 0, 0, 0, 1}}}},
    {6, 3, {{{1. / 4}, {-1. / 6, 0, -1. / 6}, {0, -1. / 6}, {1. / 24, 0, 1. / 6}, {0, 1. / 12}, {0, 0, 1}}}}};
constexpr WinogradMap kInput4 = {
    {6, 6, {{{1}, {0, 1, 1}, {0, 1, -1}, {0, 0, 0, 1, 2}, {0, 0, 0, 1, -2}, {0, 0, 0, 0, 0, 1}}}},
    {6,
     6,
     {{{4, 0, -5, 0, 1},
       {0, 0, -4, 0, 1},
       {0, -4, 0, 1},
       {0, 0, -1, 0, 1},
       {0, -1, 0, 1},
       {0, 4, 0, -5, 0, 1}}}}};
constexpr WinogradMap kOutput4 = {
    {4, 6, {{{1, 1, 0, 1}, {0, 0, 1, 0, 2}, {0, 1, 0, 4}, {0, 0, 1, 0, 8, 1}}}},
    {6, 6, {{{1}, {0, 1, 1}, {0, 1, -1}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, -1}, {0, 0, 0, 0, 0, 1}}}}};

constexpr const WinogradMap* kMaps[][3] = {{&kFilters2, &kInput2, &kOutput2},
                                           {&kFilters4, &kInput4, &kOutput4}};

bool IsUnit(double coefficient) { return std::abs(coefficient) == 1; }

// One instruction for each term of a row; the first needs none if its coefficient is 1.
int Operations(const WinogradMatrix& matrix) {
  int operations = 0;
  for (const auto& row : matrix.at) {
    const auto zeros = std::ranges::count(row, 0.0), ones = std::ranges::count(row, 1.0);
    operations += static_cast<int>(row.size()) - static_cast<int>(zeros) - (ones > 0 ? 1 : 0);
  }
  return operations;
}

// A row of n terms rounds n - 1 sums, and products with coefficients other than 1 and -1. A coefficient is
// rounded, too, unless f32 holds it.
int Roundings(const WinogradMatrix& matrix) {
  int most = 0;
  for (const auto& row : matrix.at) {
    int terms = 0, scaled = 0, inexact = 0;
    for (double coefficient : row) {
      terms += coefficient != 0 ? 1 : 0;
      scaled |= coefficient != 0 && !IsUnit(coefficient) ? 1 : 0;
      inexact |= static_cast<double>(static_cast<float>(coefficient)) != coefficient ? 1 : 0;
    }
    most = std::max(most, std::max(terms - 1, 0) + scaled + inexact);
  }
  return most;
}

}  // namespace

std::string WinogradName(int tile) { return Cat("F(", tile, "x", tile, ",3x3)"); }

WinogradMatrix WinogradMap::Product() const {
  WinogradMatrix product{second.rows, first.columns, {}};
  for (size_t i = 0; i < product.at.size(); ++i)
    for (size_t j = 0; j < product.at.size(); ++j)
      for (size_t k = 0; k < product.at.size(); ++k) product.at[i][j] += second.at[i][k] * first.at[k][j];
  return product;
}

int WinogradMap::Operations() const { return kirsch::Operations(first) + kirsch::Operations(second); }
int WinogradMap::Roundings() const { return kirsch::Roundings(first) + kirsch::Roundings(second); }

const WinogradMap& WinogradMapOf(int tile, WinogradStep step) {
  KIRSCH_CHECK(tile == 2 || tile == 4);
  return *kMaps[tile / 2 - 1][static_cast<size_t>(step)];
}

std::vector<TransformRun> TransformShape::Runs(size_t axis) const {
  const auto& [squares, before, inside, stride] = axes[axis];
  std::vector<TransformRun> runs;
  for (int64_t square = 0; square < squares; ++square) {
    // Squares are `tile` elements apart. The first `before` elements of the first square lie before the
    // image.
    const int64_t first = square * tile - before;
    const auto begin = static_cast<int>(std::clamp<int64_t>(-first, 0, window()));
    const auto end = static_cast<int>(std::clamp<int64_t>(inside - first, begin, window()));
    if (runs.empty() || runs.back().begin != begin || runs.back().end != end) runs.push_back({0, begin, end});
    ++runs.back().squares;
  }
  return runs;
}

std::string TransformShape::Name() const {
  constexpr const char* kSteps[] = {"filters", "input", "output"};
  std::string name = Cat("winograd", tile, "_", kSteps[static_cast<size_t>(step)]);
  for (const TransformAxis& axis : axes)
    Append(&name, "_", axis.squares, "x", axis.before, "_", axis.inside, "x", axis.stride);
  Append(&name, "_", rows, "x", columns, "_", row_stride);
  for (const EpilogueStep& epilogue_step : epilogue)
    Append(&name, "_", kirsch::Name(epilogue_step.op), static_cast<int>(epilogue_step.operand), "_",
           epilogue_step.number);
  if (stored != Dtype::kF32) Append(&name, "_", Info(stored).name);
  return name;
}

}  // namespace kirsch
