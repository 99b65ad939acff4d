// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/arena.h"

#include <sys/mman.h>

#include <algorithm>

namespace kirsch {
namespace {

constexpr size_t kPage = 4096;
// Where the buffers start within a page: a third of it apart, in whole lines.
constexpr size_t kStagger = 21 * 64;

size_t RoundUp(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Returns the offsets of the buffers, and last the end of the last buffer's page. No two buffers share a
// page.
std::vector<size_t> Offsets(absl::Span<const size_t> buffers) {
  std::vector<size_t> offsets;
  size_t page = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    // Each buffer begins in a page of its own, a stagger further on than the one before.
    offsets.push_back(page + i * kStagger % kPage);
    page = RoundUp(offsets.back() + buffers[i], kPage);
  }
  offsets.push_back(page);
  return offsets;
}

}  // namespace

SharedArena::SharedArena(size_t bytes) : bytes_(std::max(bytes, kPage)) {
  // Shared, so that a fork does not copy it; without a reserve, so that pages count only when they are
  // written.
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

SharedArena::~SharedArena() {
  if (ok()) munmap(memory_, bytes_);
}

bool SharedArena::ok() const { return memory_ != MAP_FAILED; }

size_t PlacedBytes(absl::Span<const size_t> buffers) { return Offsets(buffers).back(); }

std::vector<void*> PlaceBuffers(void* memory, absl::Span<const size_t> buffers) {
  const std::vector<size_t> offsets = Offsets(buffers);
  std::vector<void*> places;
  for (size_t i = 0; i < buffers.size(); ++i) places.push_back(static_cast<char*>(memory) + offsets[i]);
  return places;
}

}  // namespace kirsch
