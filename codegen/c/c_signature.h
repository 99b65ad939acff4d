// SPDX-License-Identifier: Apache-2.0
// What functions of C take: types, parameters, the arguments of the same names. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_C_C_SIGNATURE_H_
#define KIRSCH_CODEGEN_C_C_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/dtype.h"

namespace kirsch {

// The element type's name in C; bf16 and f16 are the uint16_t of their bits.
std::string CType(Dtype dtype);

// What the parameters of a public function depend on.
struct CSignature {
  std::vector<std::string> sizes;      // what those are called that come first
  std::vector<EntryTensor> tensors;    // what NAME_pack made is called kPacked
  std::vector<EntryTensor> constants;  // that NAME_pack takes, if there is one
  bool scratch = false, threads = false;
  bool columns = false;  // instead of a thread and their number, the first and the end of a range of columns
  bool phases = false;   // shared memory and the phase
};

CSignature MakeSignature(const LoopProgram& program);

// The parameters as in a declaration. `__restrict` is the spelling that GCC, Clang and
// MSVC take in C and in C++.
std::string CParameters(const CSignature& signature);

// Those of the function that packs; only if there is one.
std::string CPackParameters(const CSignature& signature);

// The arguments of the same names.
std::string CArguments(const CSignature& signature);
std::string CPackArguments(const CSignature& signature);

// The tensors' names, with commas between.
std::string TensorNames(const std::vector<EntryTensor>& tensors);

// What follows a function's name: the parameters ("const float* lhs, size_t trips") and the body, which
// begins with a statement "(void)NAME;" for each of them that it doesn't name, so that no compiler warns of
// it.
std::string FunctionText(std::string_view parameters, std::string_view body);

// "thread, n_threads", or what columns are wanted.
std::string ShareNames(const CSignature& signature, const char* separator);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_SIGNATURE_H_
