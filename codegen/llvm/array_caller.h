// SPDX-License-Identifier: Apache-2.0
// Calls functions whose arguments are in an array, for callers that know only at run time how many there are.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_LLVM_ARRAY_CALLER_H_
#define KIRSCH_CODEGEN_LLVM_ARRAY_CALLER_H_

#include <string>

#include "llvm/IR/Function.h"

namespace kirsch {

// The name of what AddArrayCaller makes.
inline std::string ArrayCallerName(const std::string& function) { return function + "_of_array"; }

// Adds an external function to the module of `function`, which takes pointers and numbers of 64 bits only.
// It takes one pointer, to an array of all of these, and passes them on.
void AddArrayCaller(llvm::Function* function);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LLVM_ARRAY_CALLER_H_
