// SPDX-License-Identifier: Apache-2.0
// Hashes specs for tables in memory. No file may hold the hash: it is no part of any format.
#ifndef KIRSCH_MEMO_SPEC_HASH_H_
#define KIRSCH_MEMO_SPEC_HASH_H_

#include <cstddef>
#include <cstdint>

#include "spec/spec.h"

namespace kirsch {

// Multiplies and folds, one word at a time, so all bits of the hash are good. Words that only epilogues use
// are left out if the op has none.
inline uint64_t HashOf(const Spec& spec) {
  constexpr size_t kPlainWords = (offsetof(Spec, operand) + kMaxMatrices * sizeof(TensorSpec) + 7) / 8;
  const Spec::Words words = spec.words();
  const size_t used = spec.op == OpKind::kMatmul ? kPlainWords : Spec::kWords;
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < used; ++i) {
    const __uint128_t product = static_cast<__uint128_t>(hash ^ words[i]) * 0xda942042e4dd58b5;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

// The same for absl's and std's tables.
struct SpecHash {
  size_t operator()(const Spec& spec) const { return HashOf(spec); }
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_SPEC_HASH_H_
