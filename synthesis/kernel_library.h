// SPDX-License-Identifier: Apache-2.0
// Solves several kernels for several targets, prints them into one file, and verifies them. A family of sizes
// is one kernel, and so is a single spec. One kernel for one target is a library, too: callers need no second
// path.
#ifndef KIRSCH_SYNTHESIS_KERNEL_LIBRARY_H_
#define KIRSCH_SYNTHESIS_KERNEL_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/header/header_file.h"
#include "codegen/llvm/emit.h"
#include "codegen/verify/verify.h"
#include "spec/language/kernel_file.h"
#include "synthesis/family.h"
#include "synthesis/solve.h"

namespace kirsch {

// One public function of the file. At run time it chooses among its variants by what the CPU has.
struct LibraryKernel {
  std::vector<FamilySynthesis> variants;  // one for each target, in the order of Library::targets

  const KernelRequest& request() const { return variants.front().request; }
  const std::string& name() const { return request().name; }  // of its function in C
};

struct Library {
  std::string name;  // of the file, a C identifier
  std::vector<LibraryKernel> kernels;
  std::vector<Target> targets;
};

// Solves every kernel for every target, and tells the observer of each. The kernels for one target share a
// memo, as they share specs. The time budget is for all together. `name`: see Library. Neither span is empty.
// InvalidArgument if a schedule is given for more than one kernel or target, or as by CheckFamily.
absl::StatusOr<Library> SolveLibrary(const SolveArguments& arguments, const std::string& name,
                                     absl::Span<const KernelRequest> requests,
                                     absl::Span<const Target> targets);

// Says how the file is to be printed; nothing here changes a program.
struct LibraryStyle {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;        // a C file, not a header: see HeaderFile
  std::string name_space;       // C++ namespace of the public functions; empty: none
  Abi abi = Abi::kSystemV;      // that a single spec's object is made and verified for
  EntryParameters always = {};  // that every function takes; of several kernels all take scratch memory
  bool dispatch = false;        // see HeaderFile
  std::string command = {};     // likewise
};

// Lowers all programs, and puts their kernels into one file. Variants are in the order in which they are
// tried at run time. A variant that would never be chosen is left out.
HeaderFile MakeHeaderFile(const Library& library, const LibraryStyle& style);

// Verifies a library. The interpreter and the JIT run the members: all that have programs of their own, a
// sample of those that share one. The header is compiled once, a kernel of one size perhaps by itself.
// Its self-test calls the public functions for every member, or for some of many.
//
// The report is one for all. A rung is passed if all members pass it for which it was climbed.
VerifyReport VerifyLibrary(const Library& library, const LibraryStyle& style, Observer* observer);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_KERNEL_LIBRARY_H_
