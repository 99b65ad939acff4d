// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr std::byte kSlack{0xa5};

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

absl::StatusOr<GuardedBuffer> GuardedBuffer::Create(size_t bytes, Placement placement, size_t shift) {
  const size_t page = PageBytes();
  // Whole pages for data and shift, at least one, between the two guard pages.
  const size_t inner = std::max<size_t>(1, (bytes + shift + page - 1) / page) * page;
  GuardedBuffer buffer;
  buffer.map_bytes_ = inner + 2 * page;
  void* map = mmap(nullptr, buffer.map_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return absl::ResourceExhaustedError(Cat("no memory for a buffer of ", bytes, " bytes"));
  buffer.map_ = static_cast<std::byte*>(map);
  buffer.bytes_ = bytes;
  std::byte* const first = buffer.map_ + page;
  buffer.data_ = placement == Placement::kAtStart ? first + shift : first + inner - shift - bytes;
  // The guards are protected last, as the pattern is written beside them.
  std::fill(first, buffer.data_, kSlack);
  std::fill(buffer.data_ + bytes, first + inner, kSlack);
  KIRSCH_CHECK(mprotect(buffer.map_, page, PROT_NONE) == 0);
  KIRSCH_CHECK(mprotect(first + inner, page, PROT_NONE) == 0);
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

void GuardedBuffer::SetReadOnly(bool read_only) {
  const size_t page = PageBytes();
  KIRSCH_CHECK(mprotect(map_ + page, map_bytes_ - 2 * page, read_only ? PROT_READ : PROT_READ | PROT_WRITE) ==
               0);
}

bool GuardedBuffer::SlackIntact() const {
  const size_t page = PageBytes();
  const auto intact = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte byte) { return byte == kSlack; });
  };
  return intact(map_ + page, data_) && intact(data_ + bytes_, map_ + map_bytes_ - page);
}

bool GuardedBuffer::Owns(const void* address) const {
  const std::byte* at = static_cast<const std::byte*>(address);
  return at >= map_ && at < map_ + map_bytes_;
}

}  // namespace kirsch
