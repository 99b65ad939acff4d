// Loop programs -> C functions with intrinsics. Internal to codegen/; header_file.h makes a whole file of
// them.
#ifndef KIRSCH_CODEGEN_C_C_PRINTER_H_
#define KIRSCH_CODEGEN_C_C_PRINTER_H_

#include <array>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/loop/loop_program.h"
#include "spec/dtype.h"

namespace kirsch {

// The element type's name in C; bf16 and f16 are the uint16_t of their bits.
std::string CType(Dtype dtype);

struct CStyle {
  std::string public_prefix;            // before the entries that users call: linkage
  std::string private_prefix;           // before the other functions
  std::string helper_name;              // procedures are called <helper_name>_<procedure>
  std::vector<std::string> taken = {};  // names that none of these may have: what users call functions
  std::string fence;                    // the statement that the compiler moves no load across
  bool attributes = true;               // every function names its instruction set: KIRSCH_TARGET("avx2,fma")
  // Before the names of macros: AS(type, value) is a cast, S32X16 a vector's type, KEPT(vector) a use of it,
  // LOADED(vector) a change of it to itself,
  // ADD512(sum, product) an addition of words in place.
  // Empty: as GCC and Clang say it.
  std::string macros = {};
};

struct CKernel {
  const LoopProgram* program = nullptr;
  bool swapped = false;     // see EmitOptions
  bool dispatched = false;  // called by a dispatcher only, so not public
  bool packs = true;        // with the function that packs, if there is one: kernels may share it
};

// What the parameters of a public function depend on.
struct CSignature {
  std::string size;                    // what the size is called that comes first; empty: there is none
  std::vector<EntryTensor> tensors;    // in the user's order; what NAME_pack made is called kPacked
  std::vector<EntryTensor> constants;  // that NAME_pack takes, if there is one
  bool scratch = false, threads = false;
  bool columns = false;  // instead of a thread and their number, the first and the end of a range of columns
  bool phases = false;   // shared memory and the phase
};

CSignature SignatureOf(const LoopProgram& program, bool swapped);

// The parameters as in a declaration, in the user's order. `__restrict` is the spelling that GCC, Clang and
// MSVC take in C and in C++.
std::string CParameters(const CSignature& signature);

// Those of the function that packs; only if there is one.
std::string CPackParameters(const CSignature& signature);

// The arguments of the same names.
std::string CArguments(const CSignature& signature);
std::string CPackArguments(const CSignature& signature);

// "thread, n_threads", or what columns are wanted.
std::string ShareNames(const CSignature& signature, const char* separator);

// All functions: the procedures that entries call, those of equal code once for all kernels; then the
// entries, and where an operand is packed ahead, the functions that do so.
std::string PrintC(absl::Span<const CKernel> kernels, const CStyle& style);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PRINTER_H_
