// SPDX-License-Identifier: Apache-2.0
// Memory for the time of a call, kept for the next. Internal to library/.
#ifndef KIRSCH_LIBRARY_BUFFER_POOL_H_
#define KIRSCH_LIBRARY_BUFFER_POOL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace kirsch {

// Buffers of one size, as many as there ever were calls at once. Thread-safe.
class BufferPool {
 public:
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* buffer) const { ::operator delete(buffer, std::align_val_t(kAlignment)); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  // Gives its memory back in the end.
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

  // Null data if that is 0 bytes. Throws std::bad_alloc.
  Buffer Take(size_t bytes) {
    if (bytes == 0) return Buffer(*this, nullptr);
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Memory memory = std::move(free_.back());
      free_.pop_back();
      return Buffer(*this, std::move(memory));
    }
    free_.reserve(++made_);
    return Buffer(*this,
                  Memory(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment)))));
  }

 private:
  std::mutex mutex_;
  std::vector<Memory> free_;
  size_t made_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_BUFFER_POOL_H_
