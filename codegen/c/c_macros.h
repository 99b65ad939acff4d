// SPDX-License-Identifier: Apache-2.0
// Functions and lines of C that differ in numbers only, as macros that take these: the code is the same after
// preprocessing, and a header a fraction of the size.
#ifndef KIRSCH_CODEGEN_C_C_MACROS_H_
#define KIRSCH_CODEGEN_C_C_MACROS_H_

#include <string>

#include "absl/types/span.h"

namespace kirsch {

struct CFunction {
  std::string before, name, after;  // `after` the name: parameters and body, to "}\n"
  bool by_macro = true;             // it may be an instance of a macro: nobody looks for its declaration
};

// The functions in their order, an empty line between two. Macros, whose names are `prefix` and a number, are
// defined before what uses them first, and undefined at the end; without a prefix there are none. A number of
// an instance is a parameter of its macro or follows from one: a row's offset is a multiple of its stride,
// say.
std::string PrintFunctions(absl::Span<const CFunction> functions, const std::string& prefix);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_MACROS_H_
