// Loop program -> a C/C++ header (or a C file) with intrinsics and no dependency: the form that other
// libraries take in. It compiles as C99 and as C++17, with GCC and Clang.
#ifndef KIRSCH_CODEGEN_HEADER_H_
#define KIRSCH_CODEGEN_HEADER_H_

#include <cstdint>
#include <string>

#include "codegen/loop_program.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// How the code comes by its instruction set.
enum class HeaderMode : uint8_t {
  kAttributes,  // every function carries a target attribute: no compiler flag is needed
  kMacros,      // everything is inside #if defined(__AVX512F__) ...
  kBare,        // neither, and no #include, extern "C", CPU check or self-test: for inclusion inside the
          // including library's own per-target namespace, after its own #include <immintrin.h>, <stddef.h>
};

struct HeaderOptions {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;  // a C file: the public functions have external linkage (else static inline)
  // The request was solved as its transpose: the public function takes the user's (lhs, rhs), which are the
  // spec's (rhs, lhs).
  bool swapped = false;
  Spec spec;              // the root spec the program computes: what the self-test checks
  std::string spec_text;  // the user's spec, for the comment
  std::string schedule;   // text, any number of lines, for the comment
  std::string version;    // of Kirsch
  double cycles = 0;      // predicted
  double gflops = 0;      // predicted
};

// The public functions, NAME being program.name:
//   void NAME(const float* lhs, const float* rhs, float* out
//             [, void* scratch]                     if program.scratch_bytes > 0
//             [, size_t thread, size_t n_threads]); if program.tasks > 1
//   int NAME_supported(void);          1 if the CPU has the instructions (not kBare)
//   size_t NAME_scratch_bytes(void);   if program.scratch_bytes > 0
// and, under the macro NAME_SELF_TEST in upper case, a main that checks the kernel on integers (not kBare).
std::string PrintHeader(const LoopProgram& program, const Target& target, const HeaderOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_H_
