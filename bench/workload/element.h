// SPDX-License-Identifier: Apache-2.0
// Loads single values of the element types, and fills operands with reproducible ones.
#ifndef KIRSCH_BENCH_WORKLOAD_ELEMENT_H_
#define KIRSCH_BENCH_WORKLOAD_ELEMENT_H_

#include <cstddef>
#include <cstdint>

#include "bench/workload/peer.h"
#include "spec/dtype.h"

namespace kirsch {

// Types of the C interface and of the library have the same numbers, which the assertion checks.
constexpr KirschType KirschTypeOf(Dtype dtype) { return static_cast<KirschType>(dtype); }
static_assert(KirschTypeOf(Dtype::kF32) == KIRSCH_F32 && KirschTypeOf(Dtype::kBf16) == KIRSCH_BF16 &&
              KirschTypeOf(Dtype::kF16) == KIRSCH_F16 && KirschTypeOf(Dtype::kU8) == KIRSCH_U8 &&
              KirschTypeOf(Dtype::kS8) == KIRSCH_S8 && KirschTypeOf(Dtype::kS16) == KIRSCH_S16 &&
              KirschTypeOf(Dtype::kS32) == KIRSCH_S32 && KirschTypeOf(Dtype::kF64) == KIRSCH_F64);

constexpr size_t Bytes(KirschType type, size_t elements = 1) {
  return static_cast<size_t>(Bytes(static_cast<Dtype>(type), static_cast<int64_t>(elements)));
}
constexpr bool IsInteger(KirschType type) { return !IsFloating(static_cast<Dtype>(type)); }

// Returns the value of values[index]. The values of every type are exact in float64.
double LoadElement(const void* values, KirschType type, size_t index);

// Both ends belong to the range.
struct IntegerRange {
  int64_t low, high;
};

// Fills `values` with reproducible values; different seeds give different ones. Floats are uniform in [-1,
// 1) times `scale`, rounded to the type to nearest even. Integers are uniform in `range`, which the type must
// hold. Blocks have any bits, with scales about 1.
void FillElements(void* values, KirschType type, size_t count, uint64_t seed, IntegerRange range,
                  float scale = 1);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_ELEMENT_H_
