// SPDX-License-Identifier: Apache-2.0
// Reads what synth, verify and explain are asked for: SPEC or -f FILE, for one target or several. All names
// that the code will have are checked here, before any search.
#ifndef KIRSCH_TOOLS_REQUESTS_H_
#define KIRSCH_TOOLS_REQUESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/language/kernel_file.h"
#include "spec/target.h"
#include "tools/options.h"
#include "tools/solve_options.h"

namespace kirsch {

// The options as the user gave them. Nothing has been read or checked yet.
struct RequestArguments {
  SolveOptions solve;
  std::string file;       // of kernels; empty: SPEC
  std::string kernel;     // of the file's, the only one that is wanted; empty: all are
  std::string name;       // of the only kernel's function in C; empty: the kernel's own
  std::string prefix;     // of all names in C; empty: none
  bool dispatch = false;  // with a function that finds the kernel of a matmul
};

// Adds the options of AddSolveOptions, and -f and --kernel. `db` and `arguments` live as long as the command.
void AddRequestOptions(const Command& command, const DbOptions& db, RequestArguments& arguments);

// The files that the command reads: those of SolveOptions, and the file of kernels.
std::vector<std::string> InputsOf(const RequestArguments& arguments);

// What is to be made: each kernel for each target.
struct Requests {
  std::string name;  // of the header, a C identifier: the kernel's, or the file's without its extension
  std::vector<KernelRequest> kernels;
  std::vector<Target> targets;

  // A single spec for a single target.
  bool single() const {
    return kernels.size() == 1 && kernels.front().family.specs() != nullptr && kernels.front().count() == 1 &&
           targets.size() == 1;
  }
};

// Reads the kernels and the targets. InvalidArgument, one line, if the options contradict each other, if a
// text can't be read, or if two names in C would be the same.
absl::StatusOr<Requests> ReadRequests(const RequestArguments& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REQUESTS_H_
