// SPDX-License-Identifier: Apache-2.0
// C functions that choose among a function's kernels, by the sizes and by the CPU. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_DISPATCH_H_

#include <string>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

// "int NAME(size_t m, const float* __restrict lhs, ...)", the public function.
std::string Declaration(const HeaderFunction& function);

// "void NAME_pack(const float* __restrict rhs, void* __restrict packed)", if an operand is prepacked.
std::string PackDeclaration(const HeaderFunction& function);

// NAME_packed_bytes(), if an operand is prepacked; PrintSupported comes before it.
std::string PrintPackedBytes(const HeaderFunction& function, const std::string& linkage);

// Is there a variant whose instructions the system has to be asked for? Then NAME_enable() asks.
bool NeedsPermission(const HeaderFunction& function);

// "_runs", "_choose": NAME_runs(i) says whether the CPU can run variant i, counting from 1, and
// NAME_choose() is the first it can run, or one more than there are. The choice is kept in NAME_choice (0:
// not made yet), which the self-test sets. NAME_supported() goes by these, if there are several variants.
// `linkage`: what public functions begin with.
std::string PrintSupported(const HeaderFunction& function, const std::string& linkage);

// The functions that call the kernels, the public one last; nothing if that is a kernel itself.
std::string PrintDispatchers(const HeaderFunction& function, const std::string& linkage);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_DISPATCH_H_
