// SPDX-License-Identifier: Apache-2.0
// Looks at machine code, so that verification and tests see what a compiler made of a loop: vectors that it
// spilled, instructions by mnemonic. Kernels that spill are correct but slow, and no other check notices.
#ifndef KIRSCH_CODEGEN_LLVM_SPILLS_H_
#define KIRSCH_CODEGEN_LLVM_SPILLS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// One innermost loop: a backward branch with no other one inside its range. For example, the main loop of a
// 14 x 32 tile of f32 has 28 multiply-adds on zmm for each step of the reduction. Its mnemonics["vfmadd231ps
// zmm"] is 28 times the steps of a trip, and vector_spills should be 0.
struct LoopCode {
  std::string function;                  // symbol the loop lies in
  std::map<std::string, int> mnemonics;  // instructions in the loop body, by mnemonic
  int instructions = 0;
  int vector_spills = 0;     // accesses to vectors at fixed places on the stack
  int register_moves = 0;    // from one vector register to another
  int pointers = 0;          // distinct general registers that vector accesses are relative to
  int vector_registers = 0;  // at most, that hold a value between two of its instructions
  std::string bytes;         // its machine code
};

// Disassembles an x86-64 ELF file: an object as EmitObject or a compiler makes it, a library, a program.
// INVALID_ARGUMENT says what in the file is not understood.
absl::StatusOr<std::vector<LoopCode>> InnermostLoops(std::string_view object);

// Sums over the innermost loops that have AVX instructions. Others are of code that is compiled for any
// x86-64, as start-up code is.
struct HotLoops {
  int loops = 0;
  int spills = 0, register_moves = 0;  // of vectors, in all of them
};
absl::StatusOr<HotLoops> FindHotLoops(std::string_view object);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_SPILLS_H_
