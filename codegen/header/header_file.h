// SPDX-License-Identifier: Apache-2.0
// Prints a header, or a C file, of any number of public functions. Each function has kernels for any number
// of sizes and of targets, and chooses among them at run time. So a user compiles one file for all of his
// CPUs.
#ifndef KIRSCH_CODEGEN_HEADER_HEADER_FILE_H_
#define KIRSCH_CODEGEN_HEADER_HEADER_FILE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/c/c_signature.h"
#include "codegen/loop/loop_program.h"
#include "codegen/samples/graph_samples.h"
#include "spec/language/varying_size.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Says how the code comes by its instruction set.
enum class HeaderMode : uint8_t {
  kAttributes,  // every function carries a target attribute: no compiler flag is needed
  kMacros,      // everything is inside #if defined(__AVX512F__) ...
  kBare,        // neither, and no #include, extern "C", CPU check or self-test: for inclusion inside the
          // including library's own per-target namespace, after its own #include <immintrin.h>, <stddef.h>,
          // <stdint.h>
};

// One choice of a function's sizes. Functions of graphs have none: their samples tell the self-test all it
// needs.
struct HeaderMember {
  Spec spec;  // the root spec that its programs compute
  // The request was solved as its transpose: the user's (lhs, rhs) are the spec's (rhs, lhs).
  bool swapped = false;
};

// A parameter as the text declares it. `type` is for the comment: its type, and what else there is to say.
struct HeaderParameter {
  std::string type;
  bool constant = false;
};

// The cost of packing an operand ahead, and of doing without, in predicted cycles; 0: not said.
struct PackingCost {
  double pack_cycles = 0;      // once
  double unpacked_cycles = 0;  // of a call of the kernel for the operand as it lies
};

// A function's code for one target. A member's program is programs[member], unless members share programs.
struct HeaderVariant {
  Target target;
  std::vector<LoopProgram> programs;  // one for each member of the function, in their order; or `program_of`
  double cycles = 0, gflops = 0;      // predicted; 0: not said
  std::string notes = {};             // text, any number of lines, for the comment
  PackingCost packing = {};           // if an operand is prepacked: by the first program for all of them
  // Where members share programs that take sizes. program_of: which program each member runs, by number.
  // sizes_of: of each program, which of the function's sizes, or sums of them, it takes, in its order. Both
  // are empty otherwise.
  std::vector<size_t> program_of = {};
  std::vector<std::vector<SizeSum>> sizes_of = {};

  // Returns the first member that runs the program.
  size_t member_of(size_t number) const {
    const auto found = std::ranges::find(program_of, number);
    return shares() ? static_cast<size_t>(found - program_of.begin()) : number;
  }
  bool shares() const { return !program_of.empty(); }
  size_t members() const { return shares() ? program_of.size() : programs.size(); }
  size_t number_of(size_t member) const { return shares() ? program_of[member] : member; }
  const LoopProgram& program(size_t member) const { return programs[number_of(member)]; }

  std::vector<std::string> features() const;  // that some program needs
};

// A public function, for all sizes and all targets.
struct HeaderFunction {
  std::string name;                              // a C identifier
  std::string text;                              // the user's spec, graph or family, for the comment
  std::vector<VaryingSize> sizes;                // its first parameters, in this order; empty: of one size
  std::vector<TiedSize> ties = {};               // sums of them that the text has names for
  std::vector<std::string> dims;                 // of a matmul, which these sizes are: "b", "m", "k" or "n"
  std::vector<HeaderParameter> parameters = {};  // see ParametersOf
  std::vector<HeaderMember> members;             // as the family's, or one; none of a graph
  std::vector<HeaderMember> tested = {};         // those that the self-test calls; none: all
  std::vector<GraphSamples> samples = {};  // of a graph's members, for its self-test; without any it has none
  std::vector<HeaderVariant> variants;     // at least one; in a file that is printed, as BestFirst says

  bool swapped(size_t member) const { return !members.empty() && members[member].swapped; }
  bool has_samples() const;
  bool has_self_test() const { return !members.empty() || has_samples(); }
  // All variants pack the same operands, so the first one tells.
  bool packs() const { return variants.front().programs.front().packing.has_value(); }
  // True if the public function chooses among kernels; else it is the kernel itself.
  bool dispatched() const { return variants.size() > 1 || !sizes.empty(); }
  int64_t scratch_bytes() const;  // the most that any kernel needs
  int64_t shared_bytes() const;   // likewise
  int phases() const;             // likewise
  // Returns the parameters without the sizes. There are scratch, threads and phases if some kernel takes
  // them, so that all kernels can be called through it. Operands of a matmul are as the user states it.
  CSignature signature() const;
};

// A file to print. Its functions share the checks of the CPU, and procedures of equal code.
struct HeaderFile {
  std::string name;  // a C identifier; what is no function's own begins with it
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;        // a C file: the public functions have external linkage (else static inline)
  std::string name_space = {};  // C++ only: of the public functions; empty: none. "a::b" is fine
  std::string version = {};     // of Kirsch
  std::vector<HeaderFunction> functions = {};  // several variants: kAttributes only
  bool dispatch = false;  // not kBare: with a function that finds a matmul's kernel (matmul_dispatch.h)
  // kAttributes, one variant each: NAME and NAME_pack are but declared, as their code is in an object
  // (EmitFunction in emit.h), and there is no self-test.
  bool declares = false;
  std::string command = {};  // that makes the file again, for the comment; empty: not said
};

// Returns the variants in the order in which they are tried: wide vectors first, then more features, then as
// given. A variant is left out if one before it needs no feature beside its own: it would never be chosen.
std::vector<HeaderVariant> BestFirst(std::vector<HeaderVariant> variants);

// The public functions, NAME being that of each function:
// clang-format off
//   void NAME(const T* lhs, const T* rhs, T* out
//             [, void* scratch_memory]          if a kernel needs it, or always takes it (EntryParameters)
//             [, size_t thread, size_t n_threads]    if a kernel has tasks for threads, or so
//             [, void* shared_memory, size_t phase])   if a kernel has several phases, or so
// with the text's own parameters before `out`, by their names and in their order; or, if sizes vary,
//   int NAME(size_t <size>, for each of them, as above)
//     1 if the sizes are a member's, and its kernel ran; 0 if not, and nothing was touched
// Where operands are prepacked, NAME takes `const void* packed` instead, before `out`, and there are
//   size_t NAME_packed_bytes(void);    bytes of the packed operand, 64-byte aligned
//   void NAME_pack(const T* operand, void* packed)   both for the kernel that this CPU runs
//   int NAME_supported(void);          1 if the CPU has the instructions of some variant (not kBare)
//   size_t NAME_scratch_bytes(void);   if it takes scratch memory: the most that any kernel needs
//   size_t NAME_phases(void);          if it takes phases: the most of any kernel
//   size_t NAME_shared_bytes(void);    likewise
// clang-format on
// and, under the macro <file.name>_SELF_TEST in upper case, a main that checks all functions, in each variant
// that the CPU can run, on integers; of graphs, samples of the result (not kBare).
std::string PrintHeaderFile(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_HEADER_FILE_H_
