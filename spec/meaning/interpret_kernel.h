// SPDX-License-Identifier: Apache-2.0
// Runs one kernel on an interpreted program's memory, straight from the kernel's meaning. There is one
// overload for each alternative of KernelShape. None of them uses the code generator.
#ifndef KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_
#define KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_

#include <cstdint>
#include <vector>

#include "spec/meaning/interpreter_memory.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// The least multiple of `unit` that is at least `value`.
inline int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The kernel's operands, in the order of KernelRun::at. The integer parameter of each function is
// KernelRun::count, which only some kernels read. Errors are the memory's: see InterpreterMemory::status.
using InterpretedOperands = std::vector<InterpretedOperand>;

// Keeps sums of floats in the type in which kernels keep them, in the order of the tile's lanes, and sums of
// integers modulo 2^32. Where an instruction adds several products at once, they are added one after the
// other.
void InterpretKernel(const TileShape& tile, const InterpretedOperands& at, int64_t k,
                     InterpreterMemory* memory);
void InterpretKernel(const PackShape& pack, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);
void InterpretKernel(const CopyShape& copy, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);
// Rounds each operation on f32; adds up the sums of rows in double.
void InterpretKernel(const RowShape& rows, const InterpretedOperands& at, int64_t count,
                     InterpreterMemory* memory);
// Computes in double and rounds the results.
void InterpretKernel(const TransformShape& transform, const InterpretedOperands& at, int64_t,
                     InterpreterMemory* memory);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRET_KERNEL_H_
