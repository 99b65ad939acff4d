// SPDX-License-Identifier: Apache-2.0
// Prints the C functions that choose among a function's kernels, by the sizes and by the CPU. Internal to
// codegen/.
//
// For example, of a function for two targets whose m varies:
//   int NAME(size_t m, ...)                  calls the one for the CPU
//   static inline int NAME_znver4(size_t m, ...)   calls the kernel for m
#ifndef KIRSCH_CODEGEN_HEADER_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_DISPATCH_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// Returns "int NAME(size_t m, const float* __restrict lhs, ...)", the public function's.
std::string Declaration(const HeaderFunction& function);

// Returns "void NAME_pack(const float* __restrict rhs, void* __restrict packed)". Only if an operand is
// prepacked.
std::string PackDeclaration(const HeaderFunction& function);

// Returns NAME_packed_bytes(), if an operand is prepacked; else nothing. It may ask NAME_choose(), so
// PrintSupported comes before it.
std::string PrintPackedBytes(const HeaderFunction& function, const std::string& linkage);

// True if the system has to be asked for the instructions of some variant. Then NAME_enable() asks.
bool NeedsPermission(const HeaderFunction& function);

// Returns NAME_supported(). If there are several variants, it goes by two more functions, which come before
// it. NAME_runs(i) says whether the CPU can run variant i, counting from 1. NAME_choose() is the first that
// it can run, or one more than there are. The choice is kept in NAME_choice (0: not made yet), which the
// self-test sets. `linkage`: what public functions begin with.
std::string PrintSupported(const HeaderFunction& function, const std::string& linkage);

// Returns the functions that call the kernels, the public one last. Returns nothing if that is a kernel
// itself.
std::string PrintDispatchers(const HeaderFunction& function, const std::string& linkage);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_DISPATCH_H_
