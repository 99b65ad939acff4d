// SPDX-License-Identifier: Apache-2.0
// Several kernels for several targets, for one file: solved, printed, verified. A family
// of sizes is one kernel, and so is a single spec.
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

struct LibraryKernel {
  std::vector<FamilySynthesis> variants;  // one for each target

  const KernelRequest& request() const { return variants.front().request; }
  const std::string& name() const { return request().name; }  // of its function
};

struct Library {
  std::string name;  // of the file, a C identifier
  std::vector<LibraryKernel> kernels;
  std::vector<Target> targets;
};

// Solves every kernel for every target, with one memo for each target, and tells the observer of each. The
// time budget is for all together. `name`: see Library. Neither span is empty.
absl::StatusOr<Library> SolveLibrary(const SolveArguments& arguments, const std::string& name,
                                     absl::Span<const KernelRequest> requests,
                                     absl::Span<const Target> targets);

// How the file is to be printed.
struct LibraryStyle {
  HeaderMode mode = HeaderMode::kAttributes;
  bool external = false;
  std::string name_space;
  Abi abi = Abi::kSystemV;      // that a single spec's object is made and verified for
  EntryParameters always = {};  // of every function; scratch memory anyway, where there are several
  bool dispatch = false;        // see HeaderFile
  std::string command = {};     // likewise
};

// The file, with every kernel's variants in the order in which they are tried.
HeaderFile MakeHeaderFile(const Library& library, const LibraryStyle& style);

// Members by interpreter and JIT: all that have programs of their own, a sample of those that share one. The
// header, compiled once, by its self-test, which calls the public functions for every member, or for some
// of many. One report for all: a rung is passed by those for which it was climbed.
VerifyReport VerifyLibrary(const Library& library, const LibraryStyle& style, Observer* observer);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_KERNEL_LIBRARY_H_
