// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/interpreter_memory.h"

#include <algorithm>
#include <cstring>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// True if all of the numbers are equal to `number`. The interpreter spends its time here, so it is one
// memcmp: if the first one is right and each equals the one before it, all are right.
template <typename Number>
bool AreAll(const Number* numbers, int64_t count, Number number) {
  return numbers[0] == number &&
         memcmp(numbers, numbers + 1, static_cast<size_t>(count - 1) * sizeof(Number)) == 0;
}

}  // namespace

InterpreterMemory::InterpreterMemory(const Program& program, const std::vector<void*>& callers,
                                     const AccessObserver& observe)
    : program_(program), callers_(callers), observe_(observe), results_(program.buffers.size()) {
  const std::array<int64_t, 3> sizes = {program.own_bytes, program.shared_bytes, program.packed_bytes};
  // Memory that nobody wrote is NaN, so a read that goes unnoticed spoils the result.
  for (size_t i = 0; i < areas_.size(); ++i) {
    // Every float that is made of it is NaN.
    areas_[i].bytes.assign(static_cast<size_t>(sizes[i]), std::byte{0xff});
    areas_[i].owner.assign(static_cast<size_t>(sizes[i]), 0);
  }
  // A graph's result holds nothing at first; a contraction may add to what its output holds.
  for (size_t i = 0; i < program.buffers.size(); ++i)
    if (program.named && program.buffers[i].memory == Memory::kCaller && program.buffers[i].stored)
      results_[i].emplace();
}

void InterpreterMemory::ForgetOwn() {
  std::vector<Owner>& owner = areas_[static_cast<size_t>(Memory::kOwn)].owner;
  std::ranges::fill(owner, Owner{0});
}

InterpreterMemory::Owner* InterpreterMemory::Owners(int buffer, int64_t bytes) {
  const Program::Buffer& known = BufferAt(buffer);
  if (known.memory == Memory::kCaller) {
    std::optional<std::vector<Owner>>& owners = results_[static_cast<size_t>(buffer)];
    if (!owners) return nullptr;
    owners->resize(std::max(owners->size(), static_cast<size_t>(bytes)), 0);
    return owners->data();
  }
  return AreaOf(known).owner.data() + known.offset;
}

void* InterpreterMemory::Data(int buffer) {
  const Program::Buffer& known = BufferAt(buffer);
  if (known.memory == Memory::kCaller) return callers_[static_cast<size_t>(buffer)];
  return AreaOf(known).bytes.data() + known.offset;
}

// Keeps the first error only: later ones may be its consequences.
bool InterpreterMemory::Fail(int buffer, const char* what) {
  if (status_.ok())
    status_ = absl::InternalError(Cat(what, " (", BufferAt(buffer).name, ", buffer ", buffer, ")"));
  return false;
}

// Observers see bytes, whatever the element type is.
void InterpreterMemory::Observe(const InterpretedOperand& operand, int64_t first, int64_t stride,
                                int64_t count, bool write) const {
  if (!observe_) return;
  const int bytes = static_cast<int>(Bytes(operand.dtype, 1));
  observe_({operand.buffer, Bytes(operand.dtype, first), Bytes(operand.dtype, stride), count, bytes, write});
}

bool InterpreterMemory::IsInside(const InterpretedOperand& operand, int64_t first, int64_t stride,
                                 int64_t count) {
  // Both ends must be inside; strides may be negative.
  const Program::Buffer& buffer = BufferAt(operand.buffer);
  const int64_t last = first + (count - 1) * stride;
  const bool inside = std::min(first, last) >= 0 &&
                      Bytes(operand.dtype, std::max(first, last) + 1) <= buffer.bytes &&
                      (buffer.memory == Memory::kCaller ||
                       buffer.offset + buffer.bytes <= static_cast<int64_t>(AreaOf(buffer).bytes.size()));
  if (!inside) return Fail(operand.buffer, "leaves its buffer");
  return true;
}

bool InterpreterMemory::MayRead(const InterpretedOperand& operand, int64_t first, int64_t stride,
                                int64_t count) {
  if (count == 0 || !IsInside(operand, first, stride, count)) return false;
  // Elements of blocks: the whole block is read or written.
  const int64_t bytes = Bytes(operand.dtype), block = BlockOf(operand.dtype);
  const int64_t last = std::max(first, first + (count - 1) * stride);
  const Owner* const owners = Owners(operand.buffer, (last / block + 1) * bytes);
  // Nobody records owners of this buffer.
  if (owners == nullptr) return true;
  const auto are_owned = [&](int64_t from, int64_t to) {  // the blocks of these elements, and those between
    const int64_t begin = from / block * bytes, end = (to / block + 1) * bytes;
    return AreAll(owners + begin, end - begin, OwnerOf(operand.buffer));
  };
  // A contiguous run is compared at once, any other element by element.
  bool owned = stride == 1 ? are_owned(first, first + count - 1) : true;
  for (int64_t i = 0; stride != 1 && i < count; ++i)
    owned = owned && are_owned(first + i * stride, first + i * stride);
  return owned || Fail(operand.buffer, "reads what has not been written, or has been written over");
}

bool InterpreterMemory::MayWrite(const InterpretedOperand& operand, int64_t first, int64_t stride,
                                 int64_t count) {
  if (count == 0 || !IsInside(operand, first, stride, count)) return false;
  // A buffer that the program never stores to, such as a parameter, may not be written.
  if (!BufferAt(operand.buffer).stored) return Fail(operand.buffer, "writes what is only read");
  const int64_t bytes = Bytes(operand.dtype), block = BlockOf(operand.dtype);
  const int64_t last = std::max(first, first + (count - 1) * stride);
  Owner* const owners = Owners(operand.buffer, (last / block + 1) * bytes);
  if (owners == nullptr) return true;
  // From here on the bytes belong to this value, whatever they belonged to.
  for (int64_t i = 0; i < count; ++i)
    std::fill_n(owners + (first + i * stride) / block * bytes, bytes, OwnerOf(operand.buffer));
  return true;
}

uint8_t* InterpreterMemory::Block(const InterpretedOperand& operand, int64_t offset, bool write) {
  const int64_t first = operand.first + offset, block = BlockOf(operand.dtype);
  KIRSCH_CHECK(first % block == 0);
  if (write ? !MayWrite(operand, first, 1, block) : !MayRead(operand, first, 1, block)) return nullptr;
  Observe(operand, first, 1, block, write);
  return static_cast<uint8_t*>(Data(operand.buffer)) + Bytes(operand.dtype, first);
}

const uint8_t* InterpreterMemory::BlockToRead(const InterpretedOperand& operand, int64_t offset) {
  return Block(operand, offset, false);
}

uint8_t* InterpreterMemory::BlockToWrite(const InterpretedOperand& operand, int64_t offset) {
  return Block(operand, offset, true);
}

}  // namespace kirsch
