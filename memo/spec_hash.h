// SPDX-License-Identifier: Apache-2.0
// A hash of specs for tables in memory: not one to store.
#ifndef KIRSCH_MEMO_SPEC_HASH_H_
#define KIRSCH_MEMO_SPEC_HASH_H_

#include <cstddef>
#include <cstdint>

#include "spec/spec.h"

namespace kirsch {

// Multiply and fold, a word at a time. All bits are good. What only epilogues have is left out where there is
// none.
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

}  // namespace kirsch

#endif  // KIRSCH_MEMO_SPEC_HASH_H_
