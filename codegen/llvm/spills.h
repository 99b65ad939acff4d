// SPDX-License-Identifier: Apache-2.0
// Looking at machine code: spills in loops, and counts of mnemonics.
#ifndef KIRSCH_CODEGEN_LLVM_SPILLS_H_
#define KIRSCH_CODEGEN_LLVM_SPILLS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// One innermost loop: a backward branch with no other inside its range.
struct LoopCode {
  std::string function;                  // symbol the loop lies in
  std::map<std::string, int> mnemonics;  // instructions in the loop body, by mnemonic
  int instructions = 0;
  int vector_spills = 0;     // accesses to vectors at fixed places on the stack
  int register_moves = 0;    // from one vector register to another
  int pointers = 0;          // distinct general registers that vector accesses are relative to
  int vector_registers = 0;  // that hold something between two of its instructions, at most
  std::string bytes;         // its machine code
};

// Disassembles an x86-64 ELF file (an object as EmitObject or a compiler makes it, a library, a program). An
// error says what in the file is not understood.
absl::StatusOr<std::vector<LoopCode>> InnermostLoops(std::string_view object);

// Of the innermost loops that have AVX instructions, so not those of what is compiled for any x86-64.
struct HotLoops {
  int loops = 0;
  int spills = 0, register_moves = 0;  // of vectors, in all of them
};
absl::StatusOr<HotLoops> FindHotLoops(std::string_view object);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_SPILLS_H_
