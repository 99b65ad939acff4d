// A family of sizes -> one C/C++ header: a kernel for every member, the procedures that kernels have in
// common once, and a function that takes the sizes at run time and calls the right one.
#ifndef KIRSCH_CODEGEN_FAMILY_HEADER_H_
#define KIRSCH_CODEGEN_FAMILY_HEADER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/header.h"
#include "codegen/loop_program.h"
#include "spec/family.h"
#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch {

// The C identifier of a family or a spec by its text: "matmul_f32_1to64x4096x4096_rhs_col".
std::string IdentifierOf(const std::string& text);

struct FamilyKernel {
  LoopProgram program;
  Spec spec;  // the root spec the program computes
  bool swapped = false;
};

// Every member's kernel, in the order of the family's members, from their programs.
std::vector<FamilyKernel> LowerFamily(const SpecFamily& family, absl::Span<const Impl* const> impls,
                                      const Target& target);

struct FamilyHeaderOptions {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;  // as in HeaderOptions
  std::string version;    // of Kirsch
  std::string regions;    // text, any number of lines, for the comment
};

// The public functions, NAME being IdentifierOf(family.text()):
//   int NAME([size_t b,] [size_t m,] [size_t k,] [size_t n,]   those that vary
//            const float* lhs, const float* rhs, float* out
//            [, void* scratch_memory]           if a member needs it: as much as the neediest
//            [, size_t thread, size_t n_threads])   if a member has tasks for threads
//     1 if the sizes are a member's, and its kernel ran; 0 if not, and nothing was touched
//   int NAME_supported(void), size_t NAME_scratch_bytes(void), and the self-test of all members: see header.h
std::string PrintFamilyHeader(const SpecFamily& family, absl::Span<const FamilyKernel> kernels,
                              const Target& target, const FamilyHeaderOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_FAMILY_HEADER_H_
