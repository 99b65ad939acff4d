// A hash of specs for tables in memory: not one to store.
#ifndef KIRSCH_MEMO_SPEC_HASH_H_
#define KIRSCH_MEMO_SPEC_HASH_H_

#include <cstdint>

#include "spec/spec.h"

namespace kirsch {

// Multiply and fold, a word at a time. All bits are good.
inline uint64_t HashOf(const Spec& spec) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (const uint64_t word : spec.words()) {
    const __uint128_t product = static_cast<__uint128_t>(hash ^ word) * 0xda942042e4dd58b5;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

}  // namespace kirsch

#endif  // KIRSCH_MEMO_SPEC_HASH_H_
