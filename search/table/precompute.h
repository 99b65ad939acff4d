// SPDX-License-Identifier: Apache-2.0
// Solves many specs ahead of time into one table, so that later runs only recall them. The work is spread
// over threads, and over the processes of an MPI job.
#ifndef KIRSCH_SEARCH_TABLE_PRECOMPUTE_H_
#define KIRSCH_SEARCH_TABLE_PRECOMPUTE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/table.h"
#include "search/solver/search.h"
#include "search/table/process_group.h"

namespace kirsch {

// The work done so far, by all processes together. Known on rank 0.
struct PrecomputeProgress {
  int64_t roots = 0;    // asked for
  int64_t known = 0;    // of them, in the table before
  int64_t solved = 0;   // of them, since, and committed
  int64_t entries = 0;  // new in the table
  double seconds = 0;
  double share_done = 0;  // 0..1, by the work that the arithmetic of the roots suggests
};

struct PrecomputeOptions {
  int workers = 1;  // threads of this process
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const PrecomputeProgress&)> progress;  // on rank 0, after each round
};

// Puts the programs of all roots that `table` doesn't know yet into it. The table depends on the roots alone,
// whatever the threads, the processes and the interruptions. `table` is used on rank 0 only, and the result
// is known there.
//
// Small roots come first, as the specs that larger ones become are like them. Roots are dealt out over
// processes and threads in rounds of a few seconds. Each round ends with a commit, so an interrupted
// precomputation goes on where it was. Errors: DataLoss or AlreadyExists of the table; CancelledError if
// another process was cancelled.
absl::StatusOr<PrecomputeProgress> Precompute(const std::vector<Spec>& placed_roots, const CostModel& model,
                                              Table& table, ProcessGroup& processes,
                                              const PrecomputeOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_TABLE_PRECOMPUTE_H_
