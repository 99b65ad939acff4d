// SPDX-License-Identifier: Apache-2.0
// Prints functions and lines of C that differ in numbers only as macros that take these numbers. Compilers
// see the same code after preprocessing, and a header is a fraction of the size. A family of sizes has many
// functions that differ in strides alone.
//
// Before:
//   void rows_r100(...) { a = from[0]; ... a = from[100]; ... a = from[200]; ... }
//   void rows_r3000(...) { a = from[0]; ... a = from[3000]; ... a = from[6000]; ... }
// After, the macro's body having rows_r##_z1, from[_z1] and from[(2*_z1)]:
//   KIR1(100) KIR1(3000)
#ifndef KIRSCH_CODEGEN_C_C_MACROS_H_
#define KIRSCH_CODEGEN_C_C_MACROS_H_

#include <string>

#include "absl/types/span.h"

namespace kirsch {

struct CFunction {
  std::string before, name, after;  // `after` the name: parameters and body, to "}\n"
  bool by_macro = true;             // it may be an instance of a macro: nobody looks for its declaration
};

// Prints the functions in their order. Macros are called `prefix` and a number. Each is defined before the
// first text that uses it, and undefined at the end. Without a prefix there are none. A number of an instance
// is a parameter of its macro or follows from one or two: a row's offset is a multiple of its stride, for
// example.
std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_MACROS_H_
