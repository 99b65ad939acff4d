// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codegen/samples/block_data.h"
#include "spec/block.h"
#include "spec/check.h"
#include "spec/element.h"
#include "spec/meaning/reference.h"
#include "spec/storage.h"

namespace kirsch {
namespace {

constexpr int64_t kLargestInteger = 100;

// Returns a number in [-1, 1), with as many bits as the type has.
template <typename Number>
Number Uniform(uint64_t word) {
  if constexpr (std::is_same_v<Number, double>)
    return static_cast<double>(word >> 11) * 0x1p-52 - 1.0;
  else
    return static_cast<float>(static_cast<double>(word >> 40) * 0x1p-23 - 1.0);
}

// Returns 1 to `limit`, or the negative of that. 0 would hide errors of the other factor.
int32_t Integer(uint64_t word, uint64_t limit) {
  const auto magnitude = static_cast<int32_t>(1 + ((word >> 32) * limit >> 32));
  return (word & 1) != 0 ? -magnitude : magnitude;
}

// Returns any integer of the type. One in four is an end of the range, where sums wrap around and saturate.
template <typename Element>
Element FullRange(uint64_t word) {
  if (word % 8 == 0) return std::numeric_limits<Element>::min();
  if (word % 8 == 1) return std::numeric_limits<Element>::max();
  return static_cast<Element>(word >> 32);
}

// Makes one element of a random word. `as`: the type whose range the number has to be in.
template <typename Element>
Element DrawElement(InputKind kind, Dtype as, uint64_t limit, uint64_t word) {
  using Number = decltype(Widen(Element()));
  if (kind == InputKind::kIntegers) {
    const int32_t x = Integer(word, limit);
    return Narrow<Element>(static_cast<Number>(std::is_unsigned_v<Element> ? std::abs(x) : x));
  }
  if constexpr (std::is_floating_point_v<Number>) {
    if (kind == InputKind::kUniform) return Narrow<Element>(Uniform<Number>(word));
    // Exponents are some of three quarters of those that the type has, but no more than where sums keep terms
    // of every size. It is an eighth of that where sums have no more range than their terms.
    constexpr uint32_t kMostExponents = 32;
    const int share = IsNarrow(as) || Bytes(as) >= kWordBytes ? 2 : 4;
    const uint32_t exponents = std::min(3u << (Info(as).exponent - share), kMostExponents);
    return Narrow<Element>(Spread<Number>(word, exponents));
  } else {
    return FullRange<Element>(word);
  }
}

// Fills consecutive elements, the first of which is number `index` of the operand. Each is made of its own
// number, whatever the gaps in memory.
template <typename Element>
void FillRun(InputKind kind, Dtype as, uint64_t limit, uint64_t stream, int64_t index, int64_t count,
             Element* data) {
  for (int64_t i = 0; i < count; ++i)
    data[i] = DrawElement<Element>(kind, as, limit,
                                   Mix(stream + 0x9e3779b97f4a7c15u * static_cast<uint64_t>(index + i)));
}

// Fills whole blocks, as a row of a matrix has no others. Gaps become all ones.
void FillOperandOfBlocks(const Spec& root, int operand, InputKind kind, uint64_t stream, void* data) {
  const Dtype dtype = root.tensor(operand).dtype;
  const int64_t block = BlockOf(dtype), bytes = Bytes(dtype);
  int64_t done = 0, index = 0;
  const auto poison = [&](int64_t end) {
    memset(static_cast<char*>(data) + done * bytes, 0xff, static_cast<size_t>((end - done) * bytes));
  };
  const auto word = [&](int64_t) {
    return Mix(stream + 0x9e3779b97f4a7c15u * static_cast<uint64_t>(index++));
  };
  ForEachRun(root, operand, [&](int64_t offset, int64_t count) {
    const int64_t first = offset / block;
    poison(first);
    FillBlocks(dtype, kind, count / block, word, static_cast<char*>(data) + first * bytes);
    done = first + count / block;
  });
}

// Returns a number up to which sums of integers are exact.
double LargestExact(const Spec& root) {
  if (root.out().dtype == Dtype::kS16) return INT16_MAX;
  const Dtype sum = AccumulatorOf(root);
  return IsFloating(sum) ? static_cast<double>(std::min(kExactInFloat, int64_t{2} << Info(sum).mantissa))
                         : static_cast<double>(kExactInFloat);
}

}  // namespace

bool Suits(const Spec& root, InputKind kind) {
  if (kind == InputKind::kWide) return false;
  const bool floating = IsFloating(AccumulatorOf(root));
  return kind == InputKind::kIntegers || (kind == InputKind::kFullRange ? !floating : floating);
}

int64_t IntegerLimit(const Spec& root) {
  const double terms = static_cast<double>(TermsPerElement(root));
  const double exact = LargestExact(root);
  int64_t largest = kLargestInteger;
  // Integers of this size are exact in the type.
  const auto keep_exact = [&](Dtype dtype) {
    largest = std::min(largest, int64_t{2} << Info(dtype).mantissa);
  };
  for (int operand = 0; operand < root.op_info().output(); ++operand)
    if (const Dtype dtype = root.tensor(operand).dtype; IsFloating(dtype) && !IsOfBlocks(dtype))
      keep_exact(dtype);
  if (root.lhs_as != LhsAs::kItself) keep_exact(ElementAs(root.lhs_as));
  // Every block of lhs that may become integers has one that is as large as it may be, so that its scale
  // is 1.
  const double of_largest =
      root.lhs_as == LhsAs::kQ8 ? static_cast<double>(kLargestQ8Code) / BlockOf(Dtype::kQ8) : 0;
  if (const Dtype dtype = root.tensor(MatmulDims::kRhs).dtype; IsOfBlocks(dtype))  // as large as it may be
    return std::clamp<int64_t>(
        static_cast<int64_t>(exact / terms / static_cast<double>(LargestCode(dtype)) - of_largest), 1,
        largest);
  // Each of `terms` products is at most the limit squared.
  return std::clamp<int64_t>(static_cast<int64_t>(std::sqrt(exact / terms)), 1, largest);
}

// If terms are as small as they may be, and too many still, their signs keep sums small: no sum of so many is
// eight standard deviations large.
bool SumsOfIntegersAreExact(const Spec& root) {
  constexpr double kDeviations = 8;
  const Dtype sum = AccumulatorOf(root);
  if (!IsFloating(sum) || Info(sum).mantissa >= Info(Dtype::kF32).mantissa) return true;
  const auto limit = static_cast<double>(IntegerLimit(root)),
             terms = static_cast<double>(TermsPerElement(root));
  return limit * limit * std::min(terms, kDeviations * std::sqrt(terms)) <= LargestExact(root);
}

std::vector<float> MagnitudesOfRoundedLhs(const Spec& root, const void* lhs) {
  if (root.lhs_as != LhsAs::kQ8 && root.lhs_as != LhsAs::kF16) return {};
  constexpr float kLeastNormalF16 = 0x1p-14f;
  const float* const elements = static_cast<const float*>(lhs);
  std::vector<float> largest(static_cast<size_t>(RootElements(root, MatmulDims::kLhs)));
  const AxisArray extents = AxisExtents(root, MatmulDims::kLhs),
                  strides = RootStrides(root, MatmulDims::kLhs);
  const bool shares = root.lhs_as == LhsAs::kQ8;
  const int64_t block = shares ? BlockOf(Dtype::kQ8) : 1;
  for (int64_t matrix = 0; matrix < extents[0]; ++matrix)
    for (int64_t row = 0; row < extents[1]; ++row)
      for (int64_t first = 0; first < extents[2]; first += block) {
        const auto place = [&](int64_t k) {
          return static_cast<size_t>(matrix * strides[0] + row * strides[1] + (first + k) * strides[2]);
        };
        float most = shares ? 0 : kLeastNormalF16;
        for (int64_t k = 0; k < block; ++k) most = std::max(most, std::abs(elements[place(k)]));
        for (int64_t k = 0; k < block; ++k) largest[place(k)] = most;
      }
  return largest;
}

void FillOperand(const Spec& root, int operand, InputKind kind, uint64_t seed, double gap, void* data) {
  KIRSCH_CHECK(Suits(root, kind));
  const uint64_t limit = static_cast<uint64_t>(IntegerLimit(root));
  const uint64_t stream = Mix(seed * 8 + static_cast<uint64_t>(operand) + 1);
  if (IsOfBlocks(root.tensor(operand).dtype)) return FillOperandOfBlocks(root, operand, kind, stream, data);
  const bool narrows = operand == MatmulDims::kLhs && root.lhs_as == LhsAs::kF16;
  const Dtype as = narrows ? ElementAs(root.lhs_as) : root.tensor(operand).dtype;
  WithElementOf(root.tensor(operand).dtype, [&](auto element) {
    using Element = decltype(element);
    Element* const elements = static_cast<Element*>(data);
    const Element between = Narrow<Element>(static_cast<decltype(Widen(element))>(gap));
    int64_t done = 0, index = 0;
    ForEachRun(root, operand, [&](int64_t offset, int64_t count) {
      std::fill(elements + done, elements + offset, between);
      FillRun(kind, as, limit, stream, index, count, elements + offset);
      // One element of each block has the largest magnitude, so that the block's scale is 1 and its integers
      // are the elements.
      if constexpr (std::is_same_v<Element, float>)
        if (kind == InputKind::kIntegers && operand == MatmulDims::kLhs && root.lhs_as == LhsAs::kQ8)
          for (int64_t i = 0; i < count; i += BlockOf(Dtype::kQ8))
            elements[offset + i] = std::copysign(static_cast<float>(kLargestQ8Code), elements[offset + i]);
      done = offset + count;
      index += count;
    });
  });
}

}  // namespace kirsch
