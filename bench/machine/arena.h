// SPDX-License-Identifier: Apache-2.0
// Maps memory for operands that this process and all its children share. All contenders work on the very same
// physical pages, so none of them is lucky with where its pages lie.
#ifndef KIRSCH_BENCH_MACHINE_ARENA_H_
#define KIRSCH_BENCH_MACHINE_ARENA_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace kirsch {

// Memory that is mapped before any worker is forked. It is page-aligned, zero at first, and taken from the
// system only where it is written.
class SharedArena {
 public:
  // At least a page. Whether there was enough memory, ok() tells.
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

// Returns the bytes that PlaceBuffers needs for buffers of so many bytes.
size_t PlacedBytes(absl::Span<const size_t> buffers);

// Returns where the buffers lie in `memory`, which is page-aligned. Each is 64-byte aligned. They begin at
// different offsets within a page, so that none suffers from 4 KiB aliasing with another:
//
//   buffer 0: offset 0 of a page    buffer 1: offset 1344 of the next free page    buffer 2: 2688    buffer
//   3: 4032
std::vector<void*> PlaceBuffers(void* memory, absl::Span<const size_t> buffers);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_ARENA_H_
