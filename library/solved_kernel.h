// SPDX-License-Identifier: Apache-2.0
// Holds how a request is computed on a target: what a search found, and all that can be said of it without
// code. Internal to library/.
#ifndef KIRSCH_LIBRARY_SOLVED_KERNEL_H_
#define KIRSCH_LIBRARY_SOLVED_KERNEL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/header/header_file.h"
#include "library/kirsch.h"
#include "spec/extension.h"
#include "synthesis/kernel_library.h"
#include "synthesis/solve.h"

namespace kirsch {

using Remark = std::function<void(const std::string&)>;

// A solution of one request for one target. Immutable; thread-safe to read.
class SolvedKernel {
 public:
  // Searches, or finds the answer in the table `db`. `search` says how, and for how many threads the kernel
  // is. `remark` is told the warnings of target files. `extension`: null if there is none.
  static absl::StatusOr<SolvedKernel> Find(KernelRequest request, const std::string& target,
                                           const SolveArguments& search, const DbOptions& db,
                                           const Remark& remark, std::shared_ptr<const Extension> extension);

  const KernelRequest& request() const { return library_.kernels.front().request(); }
  const Target& target() const { return library_.targets.front(); }
  int threads() const { return search_.threads; }

  // Returns what is predicted of one call of the member.
  kirsch_cost MemberCost(int64_t member) const;
  // Returns what `kirsch query` answers for the member, as JSON.
  std::string Answer(int64_t member) const;
  // Returns what `kirsch explain` prints. It searches again: answers of a table explain nothing.
  absl::StatusOr<std::string> Explain() const;
  // Returns a header whose function is called `name`. InvalidArgument if C could not have that name.
  absl::StatusOr<std::string> Header(const std::string& name) const;
  // Returns the function that a header would have. Compiled kernels run the same code.
  HeaderFunction Code() const;

 private:
  SolvedKernel(SolveArguments search, Library library)
      : search_(std::move(search)), library_(std::move(library)) {}

  SolveArguments search_;  // its table is not there any more
  Library library_;        // of one kernel, for one target
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_SOLVED_KERNEL_H_
