// SPDX-License-Identifier: Apache-2.0
// The memory of an interpreted program: it knows which value each byte belongs to, so it finds out whatever
// reads what has not been written, or what another value has been written over, or leaves its buffer.
#ifndef KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_
#define KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/program/program.h"

namespace kirsch {

// What a kernel sees of an operand: elements of `dtype` from number `first` of a buffer on.
struct InterpretedOperand {
  int buffer = -1;
  int64_t first = 0;
  Dtype dtype = Dtype::kF32;
};

// Elements of a buffer that a kernel reads or writes, `bytes` each and `stride` bytes apart, from byte
// `first` of the buffer on.
struct MemoryAccess {
  int buffer = -1;
  int64_t first = 0, stride = 0, count = 0;
  int bytes = 0;
  bool write = false;
};
using AccessObserver = std::function<void(const MemoryAccess&)>;

class InterpreterMemory {
 public:
  // `observe`, if it is any, is told every access. `callers`: the caller's buffers, by their numbers in the
  // program; null for all others, and for what the program does not read. All outlive this.
  InterpreterMemory(const Program& program, const std::vector<void*>& callers, const AccessObserver& observe);

  // A thread's own memory holds nothing any more.
  void ForgetOwn();

  // to[i] = element `offset` + i * `stride` of the operand, for i < count. Zeros after an error.
  template <typename Number>
  void Read(const InterpretedOperand& operand, int64_t offset, int64_t stride, int64_t count, Number* to) {
    const int64_t first = operand.first + offset;
    if (MayRead(operand, first, stride, count)) {
      Observe(operand, first, stride, count, false);
      return LoadRun(operand.dtype, Data(operand.buffer), first, stride, count, to);
    }
    for (int64_t i = 0; i < count; ++i) to[i] = 0;
  }
  // The other way round; numbers are first made what sums of such elements are, then elements.
  template <typename Number>
  void Write(const InterpretedOperand& operand, int64_t offset, int64_t stride, int64_t count,
             const Number* from) {
    const int64_t first = operand.first + offset;
    if (!MayWrite(operand, first, stride, count)) return;
    Observe(operand, first, stride, count, true);
    WithElementOf(operand.dtype, [&](auto element) {
      using Element = decltype(element);
      Element* const to = static_cast<Element*>(Data(operand.buffer)) + first;
      for (int64_t i = 0; i < count; ++i)
        to[i * stride] = Narrow<Element>(static_cast<decltype(Widen(element))>(from[i]));
    });
  }

  // The bytes of block number offset / BlockOf of the operand, which is of blocks, to be read or written as a
  // whole; null after an error.
  const uint8_t* BlockToRead(const InterpretedOperand& operand, int64_t offset);
  uint8_t* BlockToWrite(const InterpretedOperand& operand, int64_t offset);

  bool is_observed() const { return observe_ != nullptr; }

  // The first error.
  const absl::Status& status() const { return status_; }

 private:
  // 0: no value's.
  using Owner = uint16_t;
  struct Area {
    std::vector<std::byte> bytes;
    std::vector<Owner> owner;  // of each byte
  };

  const Program::Buffer& BufferAt(int buffer) const { return program_.buffers[static_cast<size_t>(buffer)]; }
  Area& AreaOf(const Program::Buffer& buffer) { return areas_[static_cast<size_t>(buffer.memory)]; }
  static Owner OwnerOf(int buffer) { return static_cast<Owner>(buffer % 0xffff + 1); }
  // The owners of the buffer's bytes; none: all of them are the buffer's (a parameter's).
  Owner* Owners(int buffer);
  void* Data(int buffer);
  uint8_t* Block(const InterpretedOperand& operand, int64_t offset, bool write);
  bool MayRead(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool MayWrite(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool IsInside(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool Fail(int buffer, const char* what);
  void Observe(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count,
               bool write) const;

  const Program& program_;
  const std::vector<void*>& callers_;
  const AccessObserver& observe_;
  std::array<Area, 3> areas_;                // by Memory, the caller's aside
  std::vector<std::vector<Owner>> results_;  // of the caller's buffers: what is written, where that counts
  absl::Status status_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_
