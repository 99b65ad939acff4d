// SPDX-License-Identifier: Apache-2.0
// Memory for operands that this process and all its children share: all contenders work on the very same
// physical pages.
#ifndef KIRSCH_BENCH_MACHINE_ARENA_H_
#define KIRSCH_BENCH_MACHINE_ARENA_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace kirsch {

// Page-aligned, zero, and taken from the system only where it is written.
class SharedArena {
 public:
  explicit SharedArena(size_t bytes);
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  ~SharedArena();

  bool ok() const;
  void* memory() const { return memory_; }

 private:
  size_t bytes_;
  void* memory_;
};

// Bytes that buffers of so many bytes take in PlaceBuffers.
size_t PlacedBytes(absl::Span<const size_t> buffers);

// Where the buffers are in `memory` (page-aligned). Each is 64-byte aligned, and they start at different
// offsets within a page, so that none is a victim of 4 KiB aliasing with another.
std::vector<void*> PlaceBuffers(void* memory, absl::Span<const size_t> buffers);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_ARENA_H_
