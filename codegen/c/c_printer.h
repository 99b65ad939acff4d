// SPDX-License-Identifier: Apache-2.0
// Prints loop programs as C functions with intrinsics. Internal to codegen/; header_file.h makes a whole file
// of them.
//
// For example, statements of a loop program and the C that is printed for them:
//   for i3 < 4                       for (size_t i3 = 0; i3 < 4; ++i3) {
//     v = load [from + i3 * 8]         v = _mm256_loadu_ps(from + i3 * 8 + 0);
//     v = v + v                        v = _mm256_add_ps(v, v);
//     store [to + i3 * 8] = v          _mm256_storeu_ps(to + i3 * 8 + 0, v);
//                                    }
#ifndef KIRSCH_CODEGEN_C_C_PRINTER_H_
#define KIRSCH_CODEGEN_C_C_PRINTER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/loop/loop_program.h"

namespace kirsch {

// Says how functions are declared and named, so that the same printer serves headers for any compiler, C
// files and code that is included bare.
struct CStyle {
  std::string public_prefix;            // before the entries that users call: linkage
  std::string private_prefix;           // before the other functions
  std::string helper_name;              // procedures are called <helper_name>_<procedure>
  std::vector<std::string> taken = {};  // names that none of these may have: what users call functions
  std::string fence;                    // the statement that the compiler moves no load across
  bool attributes = true;               // every function names its instruction set: KIRSCH_TARGET("avx2,fma")
  // The prefix of the file's macros, such as "KIRSCH_", which say what compilers say differently. Empty: text
  // is as GCC and Clang take it.
  //   AS(type, value)       a cast of a vector
  //   S32X16                the type of a vector of s32
  //   KEPT(vector)          uses the vector and does nothing
  //   LOADED(vector)        seems to change the vector to itself
  //   ADD512(sum, product)  adds words in place
  std::string macros = {};
  // The prefix of macros 1, 2, ... of code that differs in numbers only, in files so long that nobody reads
  // all of it. It is short, as there are thousands of calls. Empty: there are none.
  std::string code_macros = {};
};

// One program to print. Several kernels of a file share procedures of equal code.
struct CKernel {
  const LoopProgram* program = nullptr;
  bool dispatched = false;  // called by a dispatcher only, so not public
  bool packs = true;        // with the function that packs, if there is one: kernels may share it
};

// Returns the text of all functions. First come the procedures that entries call: those of equal code once
// for all kernels. Then come the entries, each followed by the function that prepacks, if an operand is
// prepacked.
std::string PrintC(absl::Span<const CKernel> kernels, const CStyle& style);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PRINTER_H_
