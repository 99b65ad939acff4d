// SPDX-License-Identifier: Apache-2.0
// Says what C functions take: types, parameters, and arguments of the same names. Declarations, definitions,
// dispatchers and comments ask it, so they all agree. Internal to codegen/.
//
// For example, with scratch memory and threads:
//   const float* __restrict lhs, const float* __restrict rhs, float* __restrict out,
//   void* __restrict scratch_memory, size_t thread, size_t n_threads
#ifndef KIRSCH_CODEGEN_C_C_SIGNATURE_H_
#define KIRSCH_CODEGEN_C_C_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/dtype.h"

namespace kirsch {

// Returns the element type's name in C. bf16, f16 and narrower floats are unsigned integers of as many bits,
// which hold theirs. Elements of blocks are bytes.
std::string CType(Dtype dtype);

// Lists what the parameters of a public function depend on. Functions with equal signatures are declared
// alike.
struct CSignature {
  std::vector<std::string> sizes;      // the names of the sizes, which come first
  std::vector<EntryTensor> tensors;    // one called kPacked is what NAME_pack made
  std::vector<EntryTensor> constants;  // that NAME_pack takes, if there is one
  bool scratch = false, threads = false;
  bool columns = false;  // with `threads`: takes the first and the end of a range of columns instead
  bool phases = false;   // shared memory and the phase
};

// Returns the signature of the program's public function.
CSignature MakeSignature(const LoopProgram& program);

// Returns the parameters as in a declaration. `__restrict` is the spelling that GCC, Clang and MSVC take in C
// and in C++.
std::string CParameters(const CSignature& signature);

// Returns the parameters of the function that packs. Only if there is one.
std::string CPackParameters(const CSignature& signature);

// Return the arguments of the same names, for a function that calls another one with all that it got.
std::string CArguments(const CSignature& signature);
std::string CPackArguments(const CSignature& signature);

// Returns the tensors' names, with commas between.
std::string TensorNames(const std::vector<EntryTensor>& tensors);

// Returns what follows a function's name: the parameters ("const float* lhs, size_t trips") and the body. The
// body begins with a statement "(void)NAME;" for each parameter that it doesn't name, so that no compiler
// warns of it.
std::string FunctionText(std::string_view parameters, std::string_view body);

// Returns "thread, n_threads", or "first_column, end_column" if the function takes columns.
std::string ShareNames(const CSignature& signature, const char* separator);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_SIGNATURE_H_
