// SPDX-License-Identifier: Apache-2.0
// What each kind of kernel does to an interpreted program's memory, straight from its meaning.
#ifndef KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_
#define KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_

#include <cstdint>
#include <vector>

#include "spec/meaning/interpreter_memory.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

inline int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// `at`: the kernel's operands; `count`: as in KernelRun. Errors are the memory's.
using InterpretedOperands = std::vector<InterpretedOperand>;

// Sums are kept in float, in the order of the form's lanes, or in integers modulo 2^32. Where an instruction
// adds several products at once, they are added one after the other.
void InterpretKernel(const TileShape& tile, const InterpretedOperands& at, int64_t k,
                     InterpreterMemory* memory);
void InterpretKernel(const PackShape& pack, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);
void InterpretKernel(const CopyShape& copy, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);
// In f32, each operation rounded; sums of rows in double.
void InterpretKernel(const RowShape& rows, const InterpretedOperands& at, int64_t count,
                     InterpreterMemory* memory);
// In double, the results rounded.
void InterpretKernel(const TransformShape& transform, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_
