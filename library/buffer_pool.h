// SPDX-License-Identifier: Apache-2.0
// Keeps the memory of a call for the next one, so that calls allocate nothing once as many have run at a
// time. Internal to library/.
//
//   two threads call a kernel at once:  the pool makes 2 buffers
//   any two later calls:                each takes one of these and gives it back
#ifndef KIRSCH_LIBRARY_BUFFER_POOL_H_
#define KIRSCH_LIBRARY_BUFFER_POOL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace kirsch {

// Buffers of one size, as many as there ever were calls at once. Invariant: all calls of a pool ask for the
// same size. Thread-safe. What a buffer holds when it is taken is undefined.
class BufferPool {
 public:
  // Bytes. Scratch memory of kernels begins on a line.
  static constexpr size_t kAlignment = 64;
  // Memory that was made with an alignment is freed with the same one.
  struct Free {
    void operator()(std::byte* buffer) const { ::operator delete(buffer, std::align_val_t(kAlignment)); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  // A buffer that is taken for a while. It gives its memory back when it is destroyed; the pool outlives it.
  class Buffer {
   public:
    Buffer(BufferPool& pool, Memory memory) : pool_(pool), memory_(std::move(memory)) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
      if (memory_ == nullptr) return;
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(memory_));  // which has the place that Take made
    }
    std::byte* data() const { return memory_.get(); }

   private:
    BufferPool& pool_;
    Memory memory_;
  };

  // Takes a buffer that is free, or makes one. Its data are null if `bytes` is 0. Throws std::bad_alloc.
  Buffer Take(size_t bytes) {
    if (bytes == 0) return Buffer(*this, nullptr);
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Memory memory = std::move(free_.back());
      free_.pop_back();
      return Buffer(*this, std::move(memory));
    }
    // A place for each buffer there is, so that giving it back never allocates: a destructor must not throw.
    free_.reserve(++made_);
    return Buffer(*this,
                  Memory(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment)))));
  }

 private:
  std::mutex mutex_;
  std::vector<Memory> free_;
  size_t made_ = 0;  // buffers, free or taken
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_BUFFER_POOL_H_
