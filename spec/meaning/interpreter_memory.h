// SPDX-License-Identifier: Apache-2.0
// Holds the memory of an interpreted program. It knows for each byte which value the byte belongs to. So it
// finds a read of something that was not written, or that another value has overwritten, and any access
// outside of a buffer.
//
// Example: buffers b3 and b4 share bytes. k0 writes b3, k1 writes b4, k2 reads b3: the bytes belong to b4 by
// then, so the read is an error.
#ifndef KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_
#define KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/program/program.h"

namespace kirsch {

// An operand as a kernel sees it: elements of `dtype`, from element number `first` of a buffer on.
struct InterpretedOperand {
  int buffer = -1;
  int64_t first = 0;
  Dtype dtype = Dtype::kF32;
};

// Elements of a buffer that a kernel reads or writes. Each has `bytes` bytes; they are `stride` bytes apart,
// and the first one is at byte `first` of the buffer.
struct MemoryAccess {
  int buffer = -1;
  int64_t first = 0, stride = 0, count = 0;
  int bytes = 0;
  bool write = false;
};
using AccessObserver = std::function<void(const MemoryAccess&)>;

// After the first error every read gives zeros and nothing is reported again, so kernels need no checks of
// their own.
class InterpreterMemory {
 public:
  // `observe`, if it is given, is told every access. `callers`: the caller's buffers, by their numbers in the
  // program; nullptr for other buffers, and for those that the program does not use. All of these must
  // outlive the memory.
  InterpreterMemory(const Program& program, const std::vector<void*>& callers, const AccessObserver& observe);

  // Makes a thread's own memory hold nothing: the next thread, or the next phase, must not find values there.
  void ForgetOwn();

  // Reads to[i] = element `offset` + i * `stride` of the operand, for i < count. Gives zeros if that is an
  // error.
  template <typename Number>
  void Read(const InterpretedOperand& operand, int64_t offset, int64_t stride, int64_t count, Number* to) {
    const int64_t first = operand.first + offset;
    if (MayRead(operand, first, stride, count)) {
      Observe(operand, first, stride, count, false);
      return LoadRun(operand.dtype, Data(operand.buffer), first, stride, count, to);
    }
    for (int64_t i = 0; i < count; ++i) to[i] = 0;
  }
  // Writes elements in the same way. Numbers are first converted to the type in which such elements are
  // summed, and then narrowed, as kernels do.
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

  // Returns the bytes of block number offset / BlockOf of the operand, whose type is of blocks. The caller
  // reads or writes the whole block. nullptr if that is an error.
  const uint8_t* BlockToRead(const InterpretedOperand& operand, int64_t offset);
  uint8_t* BlockToWrite(const InterpretedOperand& operand, int64_t offset);

  bool is_observed() const { return observe_ != nullptr; }

  // The first error, or OK.
  const absl::Status& status() const { return status_; }

 private:
  // The value that a byte belongs to, as a number from its buffer's; 0 if it belongs to none.
  using Owner = uint16_t;
  struct Area {
    std::vector<std::byte> bytes;
    std::vector<Owner> owner;  // of each byte
  };

  const Program::Buffer& BufferAt(int buffer) const { return program_.buffers[static_cast<size_t>(buffer)]; }
  Area& AreaOf(const Program::Buffer& buffer) { return areas_[static_cast<size_t>(buffer.memory)]; }
  static Owner OwnerOf(int buffer) { return static_cast<Owner>(buffer % 0xffff + 1); }
  // The owners of the buffer's first `bytes` bytes; nullptr if nobody records them, since all bytes always
  // are the buffer's own (a parameter's, or those of a contraction's output).
  Owner* Owners(int buffer, int64_t bytes);
  void* Data(int buffer);
  uint8_t* Block(const InterpretedOperand& operand, int64_t offset, bool write);
  // Checks bounds, then ownership; an error is recorded by Fail, which returns false.
  bool MayRead(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool MayWrite(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool IsInside(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count);
  bool Fail(int buffer, const char* what);
  void Observe(const InterpretedOperand& operand, int64_t first, int64_t stride, int64_t count,
               bool write) const;

  const Program& program_;
  const std::vector<void*>& callers_;
  const AccessObserver& observe_;
  std::array<Area, 3> areas_;  // by Memory, the caller's aside
  // Of the caller's buffers: owners, where these count, of all bytes up to the last that was used. (The
  // buffer of a program for many sizes is the largest one's.)
  std::vector<std::optional<std::vector<Owner>>> results_;
  absl::Status status_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRETER_MEMORY_H_
