// SPDX-License-Identifier: Apache-2.0
// A buffer between two pages that may not be touched, its data flush against one of them: an access beyond
// that end faults. What is left of the pages on either side is filled with a pattern, so that a write there
// can be seen.
#ifndef KIRSCH_CODEGEN_VERIFY_GUARDED_BUFFER_H_
#define KIRSCH_CODEGEN_VERIFY_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace kirsch {

enum class Placement {
  kAtStart,  // the data begins `shift` bytes after the front guard page
  kAtEnd,    // the data ends `shift` bytes before the back guard page
};

class GuardedBuffer {
 public:
  // RESOURCE_EXHAUSTED if the system does not give the memory.
  static absl::StatusOr<GuardedBuffer> Create(size_t bytes, Placement placement, size_t shift = 0);

  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  float* floats() const { return reinterpret_cast<float*>(data_); }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // From now on a write faults (or no longer does).
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
