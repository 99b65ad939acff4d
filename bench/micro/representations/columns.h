// SPDX-License-Identifier: Apache-2.0
// Columns of numbers as bytes, as in a page: what the representations that are worth it are serialized by.
#ifndef KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_
#define KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_

#include <string>

#include "memo/varint.h"

namespace kirsch {

// The differences of `value(item)` from one item to the next.
template <typename Items, typename Value>
void AppendDifferences(const Items& items, Value value, std::string* bytes) {
  int64_t before = 0;
  for (const auto& item : items) {
    AppendSigned(int64_t{value(item)} - before, bytes);
    before = value(item);
  }
}

template <typename Items, typename Value>
void AppendNumbers(const Items& items, Value value, std::string* bytes) {
  for (const auto& item : items) AppendVarint(value(item), bytes);
}

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_
