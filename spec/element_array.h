// SPDX-License-Identifier: Apache-2.0
// Reads and writes arrays of elements of any type, as numbers. Thread-safe: pure functions.
#ifndef KIRSCH_SPEC_ELEMENT_ARRAY_H_
#define KIRSCH_SPEC_ELEMENT_ARRAY_H_

#include <cstdint>

#include "spec/block.h"
#include "spec/dtype.h"
#include "spec/element.h"

namespace kirsch {

// Returns element number `index` of an array of `dtype`. It is exact, but that elements of blocks are rounded
// as spec/block.h says.
inline double LoadElement(Dtype dtype, const void* data, int64_t index) {
  if (IsOfBlocks(dtype)) return BlockElement(dtype, data, index);
  return WithElementOf(dtype, [&](auto element) -> double {
    return Widen(static_cast<const decltype(element)*>(data)[index]);
  });
}

// Stores the element that stands for `value`. The value is first converted to the type that sums of such
// elements have; of integers it has to be an int32_t.
inline void StoreElement(Dtype dtype, double value, void* data, int64_t index) {
  WithElementOf(dtype, [&](auto element) {
    using Element = decltype(element);
    static_cast<Element*>(data)[index] = Narrow<Element>(static_cast<decltype(Widen(element))>(value));
  });
}

// Reads a run: to[i] = element number first + i * stride, for i < count. Number is a float at least as wide
// as the elements', or an integer modulo its range. One call for many elements chooses the type once.
template <typename Number>
void LoadRun(Dtype dtype, const void* data, int64_t first, int64_t stride, int64_t count, Number* to) {
  if (IsOfBlocks(dtype)) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<Number>(BlockElement(dtype, data, first + i * stride));
    return;
  }
  WithElementOf(dtype, [&](auto element) {
    const auto* from = static_cast<const decltype(element)*>(data) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Number>(Widen(from[i * stride]));
  });
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_ELEMENT_ARRAY_H_
