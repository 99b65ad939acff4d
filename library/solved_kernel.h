// SPDX-License-Identifier: Apache-2.0
// How a request is computed on a target: what a search found, and what can be said of it without code.
// Internal to library/.
#ifndef KIRSCH_LIBRARY_SOLVED_KERNEL_H_
#define KIRSCH_LIBRARY_SOLVED_KERNEL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/header/header_file.h"
#include "library/kirsch.h"
#include "library/request.h"
#include "synthesis/kernel_library.h"
#include "synthesis/solve.h"

namespace kirsch {

using Remark = std::function<void(const std::string&)>;

// Immutable; thread-safe to read.
class SolvedKernel {
 public:
  // `search`: with a table, and for as many threads as it says. `remark` is told what targets' files warn of.
  static absl::StatusOr<SolvedKernel> Find(KernelRequest request, const std::string& target,
                                           const SolveArguments& search, const DbOptions& db,
                                           const Remark& remark);

  const KernelRequest& request() const { return library_.kernels.front().request(); }
  const Target& target() const { return library_.targets.front(); }
  int threads() const { return search_.threads; }

  kirsch_cost MemberCost(int64_t member) const;
  // What explain prints.
  absl::StatusOr<std::string> Explain() const;
  // A header whose function is called `name`.
  absl::StatusOr<std::string> Header(const std::string& name) const;
  // The function that a header would have.
  HeaderFunction Code() const;

 private:
  SolvedKernel(SolveArguments search, Library library)
      : search_(std::move(search)), library_(std::move(library)) {}

  SolveArguments search_;  // its table is not there any more
  Library library_;        // of one kernel, for one target
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_SOLVED_KERNEL_H_
