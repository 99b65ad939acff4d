// SPDX-License-Identifier: Apache-2.0
// Names the kinds of memory that a program's values live in. The kind decides who can see a value, and for
// how long.
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

// Rounds up to whole cache lines. All values of a program begin and end on cache lines.
constexpr int64_t WholeLines(int64_t bytes) {
  constexpr int64_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_MEMORY_H_
