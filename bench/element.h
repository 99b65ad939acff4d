// Values of the element types, one at a time, and in bulk for making operands.
#ifndef KIRSCH_BENCH_ELEMENT_H_
#define KIRSCH_BENCH_ELEMENT_H_

#include <cstddef>
#include <cstdint>

#include "bench/peers/peer.h"

namespace kirsch {

size_t BytesOf(KirschType type);
bool IsInteger(KirschType type);

// The value of values[index]; every type's are exact in float64.
double LoadElement(const void* values, KirschType type, size_t index);

struct IntegerRange {
  int64_t low, high;
};

// Fills with reproducible values: floats uniform in [-1, 1), rounded to the type to nearest even; integers
// uniform in `range`, which the type must hold. Different seeds, different values.
void FillElements(void* values, KirschType type, size_t count, uint64_t seed, IntegerRange range);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_ELEMENT_H_
