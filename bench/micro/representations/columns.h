// SPDX-License-Identifier: Apache-2.0
// Appends columns of numbers as bytes, as a page does. The representations that are worth it are serialized
// so.
//
// Neighbours of a sorted column are near each other, so their differences take few bytes.
#ifndef KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_
#define KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_

#include <string>

#include "memo/varint.h"

namespace kirsch {

// Appends the differences of `value(item)` from one item to the next. The first one is the difference from 0.
template <typename Items, typename Value>
void AppendDifferences(const Items& items, Value value, std::string* bytes) {
  int64_t before = 0;
  for (const auto& item : items) {
    AppendSigned(int64_t{value(item)} - before, bytes);
    before = value(item);
  }
}

// Appends the numbers themselves.
template <typename Items, typename Value>
void AppendNumbers(const Items& items, Value value, std::string* bytes) {
  for (const auto& item : items) AppendVarint(value(item), bytes);
}

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_COLUMNS_H_
