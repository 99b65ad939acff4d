// SPDX-License-Identifier: Apache-2.0
// Collects the statements of a kernel in the kernel language, while a program is read, and prints those that
// its results need.
//
// Each value has axes, all longer than 1, and an order in which the kernel language has them. Parameters are
// in memory as the program says, but may be seen in any order, by strides: theirs is fixed when the first
// operation reads them. An operation that wants the last two axes the other way round gets a transpose.
//
//   v[24,4,16] in memory; attention reads it as [4,24,16]   =>   v: f32[4,24,16] strides=[16,64,1]
#ifndef KIRSCH_IMPORT_KERNEL_WRITER_H_
#define KIRSCH_IMPORT_KERNEL_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/text/text.h"

namespace kirsch {

// In an order: an axis of size 1.
inline constexpr int kUnit = -1;
// Indices of axes, the outermost first, and kUnit.
using AxisOrder = std::vector<int>;

// Of an order that takes a copy: more than of all others together.
inline constexpr int kCopyCost = 1000;

// What an operation reads: a number, or a value, perhaps with its last two axes exchanged.
struct KernelArgument {
  std::optional<double> number = {};
  int value = -1;
  bool transposed = false;

  friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

struct KernelValue {
  std::string name;
  Dtype type = Dtype::kF32;
  std::vector<int64_t> axes = {};  // their sizes
  AxisOrder order = {};            // of a parameter: once `placed`
  TextPosition position = {};      // in the program
  // Of a parameter. It is in memory without gaps in the order of `axes`.
  bool parameter = false, placed = false;
  // Of an operation.
  std::string operation = {};
  std::vector<KernelArgument> arguments = {};
  std::vector<std::string> options = {};  // "axis=1"

  // Adds an axis behind the others, and returns its index. Of the size 1 there is no axis, but kUnit.
  int AddAxis(int64_t size);
  // All axes, from the outermost in a parameter's memory to the innermost.
  AxisOrder AllAxes() const;
};

// A line of the kernel's text: the place in the program that it comes from, and what it computes.
struct KernelLine {
  TextPosition position = {0, 0};  // line 0: none
  std::vector<uint32_t> dims;      // of a statement's value
};

// A result of the kernel: its axes as they are to lie in memory, without gaps, the outermost first.
struct KernelResult {
  int value = -1;
  AxisOrder memory;
};

class KernelWriter {
 public:
  // Parameters get units in front, up to so many axes: matmuls want both sides to have batches, or neither.
  // `may_copy`: values that do not have the order that is asked for are copied.
  KernelWriter(size_t least_rank, bool may_copy) : least_rank_(least_rank), may_copy_(may_copy) {}

  int AddParameter(std::string name, Dtype type, std::vector<int64_t> axes, TextPosition position);
  // The same value again where the same operation was added before.
  int AddOperation(KernelValue value);

  const KernelValue& at(int value) const { return values_[static_cast<size_t>(value)]; }
  int size() const { return static_cast<int>(values_.size()); }

  // How many transposes it takes to read the value with its axes in this order: 0 or 1; or kCopyCost, if it
  // may be copied. Nothing if it can't be. Orders are aligned at their last axes, and units in front make no
  // difference, unless the rank has to be the same (`exact`).
  std::optional<int> CostOf(int value, const AxisOrder& order, bool exact) const;
  // The value as an argument. The order of a parameter that has none is fixed by it. Precondition: CostOf is
  // not nothing.
  KernelArgument Place(int value, const AxisOrder& order, bool exact);

  // The same for any order of the value's axes: a copy where it can't be read so.
  KernelArgument PlaceOrCopy(int value, const AxisOrder& order);

  // A copy of the value with its axes in this order; itself, if it has it. Permuted: but for units.
  int Rearranged(int value, const AxisOrder& order);
  int Permuted(int value, const AxisOrder& order);
  // What permute, reshape or broadcast makes of the value: dims of these sizes, each a new axis. `list` is
  // the operation's argument in brackets.
  int AddCopy(std::string operation, int value, const std::vector<int64_t>& dims,
              const std::vector<int64_t>& list);

  // A value of the shape that an elementwise operation makes of these: `whole`, where that is its shape.
  KernelValue Shaped(const std::vector<KernelArgument>& arguments, const KernelValue& whole) const;

  // True if the value can be a result whose axes lie in this order: by strides, perhaps transposed.
  bool CanLie(int value, const AxisOrder& memory) const;

  // Fixes the order of a parameter that has none: as it lies in memory.
  void PlaceAsItLies(int value);

  // The kernel's text, one statement a line.
  std::string Print(const std::string& name, std::vector<KernelResult> results,
                    std::vector<KernelLine>* lines);

 private:
  int AddInOrder(const char* operation, int value, const AxisOrder& order, const std::vector<int64_t>& list);
  std::vector<int64_t> SizesOf(const KernelValue& value, const AxisOrder& order) const;
  std::optional<AxisOrder> DeclaredOrder(const KernelValue& value, const AxisOrder& order, bool exact) const;
  std::vector<int64_t> MemoryStrides(const KernelValue& value, const AxisOrder& memory) const;
  std::vector<uint32_t> DimsOf(const KernelValue& value) const;
  std::string PrintType(const KernelValue& value, const AxisOrder& memory) const;
  std::string PrintArgument(const KernelArgument& argument) const;
  std::string PrintStatement(const KernelValue& value) const;
  std::vector<bool> NeededBy(const std::vector<KernelResult>& results) const;

  const size_t least_rank_;
  const bool may_copy_;
  std::vector<KernelValue> values_;
};

// The number as the kernel language writes it.
std::string PrintKernelNumber(double number);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_KERNEL_WRITER_H_
