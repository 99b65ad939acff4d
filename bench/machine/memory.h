// SPDX-License-Identifier: Apache-2.0
// Allocates memory aligned to cache lines.
#ifndef KIRSCH_BENCH_MACHINE_MEMORY_H_
#define KIRSCH_BENCH_MACHINE_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace kirsch {

// Frees what aligned_alloc gave.
struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, FreeMemory>;

// Allocates whole lines, and one line for 0 bytes: a kernel may look at the pointer. Null when there is no
// memory.
inline AlignedMemory AllocateAligned(size_t bytes) {
  return AlignedMemory(std::aligned_alloc(64, bytes / 64 * 64 + 64));
}

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_MEMORY_H_
