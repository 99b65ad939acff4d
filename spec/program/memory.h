// SPDX-License-Identifier: Apache-2.0
// The kinds of memory that values of a program live in.
#ifndef KIRSCH_SPEC_PROGRAM_MEMORY_H_
#define KIRSCH_SPEC_PROGRAM_MEMORY_H_

#include <cstdint>

namespace kirsch {

enum class Memory : uint8_t {
  kOwn,     // a thread's own scratch memory, which holds nothing from one phase to the next
  kShared,  // of all threads: what several phases use
  kPacked,  // what is made ahead
  kCaller,  // a parameter, or the result
};

// Values begin and end on cache lines.
constexpr int64_t WholeLines(int64_t bytes) {
  constexpr int64_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_MEMORY_H_
