#include "codegen/verify_data.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "spec/multiversion.h"
#include "spec/reference.h"
#include "spec/storage.h"

namespace kirsch {
namespace {

constexpr int64_t kExactInFloat = int64_t{1} << 24;
constexpr int64_t kLargestInteger = 100;

// SplitMix64's finalizer: one independent-looking word per index.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

float Uniform(uint64_t word) { return static_cast<float>(static_cast<double>(word >> 40) * 0x1p-23 - 1.0); }

// Sign and mantissa from the upper bits; the exponent field (127 stands for 2^0) from the lowest five.
float Spread(uint64_t word) {
  const uint32_t exponent = 127 - 16 + static_cast<uint32_t>(word % 32);
  return std::bit_cast<float>((static_cast<uint32_t>(word >> 32) & 0x807fffffu) | exponent << 23);
}

float Integer(uint64_t word, uint64_t limit) {
  const float magnitude = static_cast<float>(1 + ((word >> 32) * limit >> 32));
  return (word & 1) != 0 ? -magnitude : magnitude;
}

// Consecutive elements, the first of which is number `index` of the operand.
template <typename Value>
void FillRun(uint64_t stream, int64_t index, int64_t count, float* data, const Value& value) {
  for (int64_t i = 0; i < count; ++i)
    data[i] = value(Mix(stream + 0x9e3779b97f4a7c15u * static_cast<uint64_t>(index + i)));
}

KIRSCH_MULTIVERSION
void FillRunWith(InputKind kind, uint64_t limit, uint64_t stream, int64_t index, int64_t count, float* data) {
  switch (kind) {
    case InputKind::kIntegers:
      return FillRun(stream, index, count, data, [limit](uint64_t word) { return Integer(word, limit); });
    case InputKind::kUniform:
      return FillRun(stream, index, count, data, Uniform);
    case InputKind::kSpread:
      return FillRun(stream, index, count, data, Spread);
  }
}

}  // namespace

int64_t IntegerLimit(const Spec& root) {
  const double terms = static_cast<double>(TermsPerElement(root));
  const int64_t limit = static_cast<int64_t>(std::sqrt(static_cast<double>(kExactInFloat) / terms));
  return std::clamp<int64_t>(limit, 1, kLargestInteger);
}

void FillOperand(const Spec& root, int operand, InputKind kind, uint64_t seed, float gap, float* data) {
  const uint64_t limit = static_cast<uint64_t>(IntegerLimit(root));
  const uint64_t stream = Mix(seed * 8 + static_cast<uint64_t>(operand) + 1);
  int64_t done = 0, index = 0;
  ForEachRun(root, operand, [&](int64_t offset, int64_t count) {
    std::fill(data + done, data + offset, gap);
    FillRunWith(kind, limit, stream, index, count, data + offset);
    done = offset + count;
    index += count;
  });
}

}  // namespace kirsch
