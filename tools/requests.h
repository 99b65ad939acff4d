// SPDX-License-Identifier: Apache-2.0
// What synth and verify are asked for: SPEC or -f FILE, for one target or several.
#ifndef KIRSCH_TOOLS_REQUESTS_H_
#define KIRSCH_TOOLS_REQUESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/language/kernel_file.h"
#include "spec/target.h"
#include "tools/solve_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kirsch {

struct RequestArguments {
  SolveOptions solve;
  std::string file;       // of kernels
  std::string kernel;     // of the file's, the only one that is wanted; empty: all are
  std::string name;       // of the only kernel's function; empty: the kernel's own
  std::string prefix;     // of all names
  bool dispatch = false;  // with a function that finds the kernel of a matmul
};

// AddSolveOptions, and -f.
void AddRequestOptions(CLI::App& command, const DbOptions& db, RequestArguments& arguments);

// As of SolveOptions, and the file of kernels.
std::vector<std::string> InputsOf(const RequestArguments& arguments);

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

absl::StatusOr<Requests> ReadRequests(const RequestArguments& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REQUESTS_H_
