// SPDX-License-Identifier: Apache-2.0
// A buffer between two pages that may not be touched, its data flush against one of them: an access beyond
// that end faults. What is left of the pages on either side is filled with a pattern, so that a write there
// can be seen.
#ifndef KIRSCH_CODEGEN_VERIFY_GUARDED_BUFFER_H_
#define KIRSCH_CODEGEN_VERIFY_GUARDED_BUFFER_H_

#include <cstddef>

#include "absl/status/statusor.h"

namespace kirsch {

// Says which end of the data is next to a guard page. An access beyond the other end shows in the pattern, if
// it is a write.
enum class Placement {
  kAtStart,  // the data begins `shift` bytes after the front guard page
  kAtEnd,    // the data ends `shift` bytes before the back guard page
};

// Owns its pages. They look like this, with Placement::kAtEnd and shift = 0:
//   | guard page | pattern ... data | guard page |
class GuardedBuffer {
 public:
  // The data is not initialised. `shift`: bytes between the data and the guard page, so that it begins or
  // ends off a page's boundary. RESOURCE_EXHAUSTED if the system does not give the memory.
  static absl::StatusOr<GuardedBuffer> Create(size_t bytes, Placement placement, size_t shift = 0);

  // Moved, not copied: addresses of the data stay what they are.
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  float* floats() const { return reinterpret_cast<float*>(data_); }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // True: from here on a write to the data faults. False: it may be written again.
  void SetReadOnly(bool read_only);

  // True if nothing was written beside the data, within the pages that hold it.
  bool SlackIntact() const;

  // True if `address` lies in the buffer's pages or its guard pages.
  bool Owns(const void* address) const;

 private:
  GuardedBuffer() = default;

  std::byte* map_ = nullptr;  // front guard page, pages, back guard page
  size_t map_bytes_ = 0;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_GUARDED_BUFFER_H_
