#include "codegen/verify_data.h"

#include <algorithm>
#include <cmath>

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

float Spread(uint64_t word) {
  const float mantissa = 1 + static_cast<float>(static_cast<double>(word >> 41) * 0x1p-23);
  const float magnitude = std::ldexp(mantissa, static_cast<int>(word % 32) - 16);
  return (word & 32) != 0 ? -magnitude : magnitude;
}

float Integer(uint64_t word, uint64_t limit) {
  const float magnitude = static_cast<float>(1 + (word >> 32) % limit);
  return (word & 1) != 0 ? -magnitude : magnitude;
}

float Value(InputKind kind, uint64_t word, uint64_t limit) {
  switch (kind) {
    case InputKind::kIntegers: return Integer(word, limit);
    case InputKind::kUniform: return Uniform(word);
    case InputKind::kSpread: return Spread(word);
  }
  return 0;
}

}  // namespace

int64_t IntegerLimit(const Spec& root) {
  const double terms = static_cast<double>(TermsPerElement(root));
  const int64_t limit = static_cast<int64_t>(std::sqrt(static_cast<double>(kExactInFloat) / terms));
  return std::clamp<int64_t>(limit, 1, kLargestInteger);
}

void FillOperand(const Spec& root, int operand, InputKind kind, uint64_t seed, float gap, float* data) {
  const uint64_t limit = static_cast<uint64_t>(IntegerLimit(root));
  uint64_t counter = Mix(seed * 8 + static_cast<uint64_t>(operand) + 1);
  int64_t done = 0;
  ForEachRun(root, operand, [&](int64_t offset, int64_t count) {
    std::fill(data + done, data + offset, gap);
    for (int64_t i = 0; i < count; ++i) data[offset + i] = Value(kind, Mix(counter += 0x9e3779b97f4a7c15u), limit);
    done = offset + count;
  });
}

}  // namespace kirsch
