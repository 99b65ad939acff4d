// SPDX-License-Identifier: Apache-2.0
// Runs a kernel that is not trusted. Its memory is guarded, and a fault is caught and explained instead of
// ending the process. Runs are serialised across threads, because fault handlers belong to the whole process.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_RUN_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/kernel.h"
#include "codegen/verify/guarded_buffer.h"
#include "codegen/verify/known_problem.h"

namespace kirsch {

// Says how the memory lies and how the work is split in one run.
struct VerifyTrial {
  InputKind kind = InputKind::kIntegers;
  uint64_t seed = 1;
  Placement placement = Placement::kAtEnd;
  size_t shift = 0;  // elements between data and guard page: with kAtStart, the tensors' misalignment
  size_t n_threads = 1;
};

// Holds the tensors of one trial. Inputs are read-only.
class Operands {
 public:
  static absl::StatusOr<Operands> Create(const KnownProblem& problem, const VerifyTrial& trial);

  // True if the tensors of one trial are those of the other, but that threads may share the work otherwise.
  // Then only the outputs have to be made anew, by Refill.
  static bool SuitAlso(const VerifyTrial& one, const VerifyTrial& other);
  void Refill(const KnownProblem& problem, const VerifyTrial& trial) const;

  const GuardedBuffer& at(size_t tensor) const { return buffers_[tensor]; }
  std::vector<void*> pointers() const;

 private:
  std::vector<GuardedBuffer> buffers_;
};

// Runs the kernel as strictly as it may be run. If it takes anything packed, that is packed first, into
// guarded memory that is then read-only. Then each phase is run as each of `trial.n_threads` threads, one
// after the other, the last thread first. Each call has new scratch memory; that and shared memory are full
// of NaN, whatever floats are read from them.
//
// OUT_OF_RANGE says how the kernel broke the rules: a fault with the access that caused it, or a write where
// nothing was to be written. RESOURCE_EXHAUSTED if there is no memory for the run. Any other error is the
// kernel's own complaint.
absl::Status RunGuarded(const KnownProblem& problem, const Kernel& kernel, const VerifyTrial& trial,
                        const Operands& operands);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_RUN_H_
