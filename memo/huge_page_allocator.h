// SPDX-License-Identifier: Apache-2.0
// An allocator for tables that are read at random: large ones ask for pages of 2 MiB, since with small ones
// nearly each look-up misses the TLB, too.
#ifndef KIRSCH_MEMO_HUGE_PAGE_ALLOCATOR_H_
#define KIRSCH_MEMO_HUGE_PAGE_ALLOCATOR_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace kirsch {

// Equal to any other, as it has no state. Where the system has no such pages it gives small ones.
template <typename T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr size_t kPageBytes = size_t{1} << 21;
  static constexpr std::align_val_t kPageAlignment{kPageBytes};

  HugePageAllocator() = default;
  template <typename Other>
  HugePageAllocator(const HugePageAllocator<Other>&) {
  }  // NOLINT(google-explicit-constructor): as the standard's

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kPageBytes) return static_cast<T*>(::operator new(bytes, std::align_val_t{alignof(T)}));
    void* memory = ::operator new(bytes, kPageAlignment);
    madvise(memory, bytes / kPageBytes * kPageBytes, MADV_HUGEPAGE);  // a hint: failure changes nothing
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    const bool small = count * sizeof(T) < kPageBytes;
    ::operator delete(memory, small ? std::align_val_t{alignof(T)} : kPageAlignment);
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_HUGE_PAGE_ALLOCATOR_H_
