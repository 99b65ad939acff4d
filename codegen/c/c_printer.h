// SPDX-License-Identifier: Apache-2.0
// Loop programs -> C functions with intrinsics. Internal to codegen/; header_file.h makes a whole file of
// them.
#ifndef KIRSCH_CODEGEN_C_C_PRINTER_H_
#define KIRSCH_CODEGEN_C_C_PRINTER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/loop/loop_program.h"

namespace kirsch {

struct CStyle {
  std::string public_prefix;            // before the entries that users call: linkage
  std::string private_prefix;           // before the other functions
  std::string helper_name;              // procedures are called <helper_name>_<procedure>
  std::vector<std::string> taken = {};  // names that none of these may have: what users call functions
  std::string fence;                    // the statement that the compiler moves no load across
  bool attributes = true;               // every function names its instruction set: KIRSCH_TARGET("avx2,fma")
  // Before the names of macros: AS(type, value) is a cast, S32X16 a vector's type, KEPT(vector) a use of it,
  // LOADED(vector) a change of it to itself, ADD512(sum, product) an addition of words in place; with a
  // number, where there is so much code that nobody reads it all, it stands for code that differs in numbers
  // only. Empty: as GCC and Clang say it, and all code as it is.
  std::string macros = {};
};

struct CKernel {
  const LoopProgram* program = nullptr;
  bool dispatched = false;  // called by a dispatcher only, so not public
  bool packs = true;        // with the function that packs, if there is one: kernels may share it
};

// All functions: the procedures that entries call, those of equal code once for all kernels; then the
// entries, and where an operand is prepacked, the functions that do so.
std::string PrintC(absl::Span<const CKernel> kernels, const CStyle& style);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PRINTER_H_
