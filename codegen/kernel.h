// SPDX-License-Identifier: Apache-2.0
// Defines code that can be called, so that verification and measurement handle all code alike: the
// interpreter, the JIT's code, a compiled header.
#ifndef KIRSCH_CODEGEN_KERNEL_H_
#define KIRSCH_CODEGEN_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace kirsch {

// One call of a kernel. It does the share of thread number `thread` in phase number `phase`. The caller makes
// a call for each thread of a phase, and begins the next phase when all of them have returned.
struct KernelCall {
  absl::Span<void* const> tensors;  // the problem's, but for what is packed
  // Memory of this thread alone, `scratch_bytes` of it. Its contents need not outlive the call.
  void* scratch = nullptr;
  size_t thread = 0, n_threads = 1;
  // Memory of all threads, of shared_bytes. It carries results from one phase to the next.
  void* shared = nullptr;
  size_t phase = 0;
};

// A function that claims to compute a problem, and the memory it asks for. Verification and measurement take
// one each.
struct Kernel {
  std::string name;
  std::function<void(const KernelCall&)> run;
  int64_t scratch_bytes = 0;  // per thread
  int phases = 1;
  int64_t shared_bytes = 0;
  bool shares_work = true;  // else one thread does all of it, in one phase
  // The tensors that it takes packed, by number. `pack` is called with these tensors, then the packed memory.
  // Each call of `run` gets the packed memory instead of them, as tensor number `packed_place`.
  std::vector<size_t> packed = {};
  size_t packed_place = 0;
  int64_t packed_bytes = 0;
  std::function<void(absl::Span<void* const> tensors)> pack = {};
  std::function<absl::Status()> complaint = {};  // the errors that it found itself in its last call
  std::shared_ptr<const void> code = {};         // that the functions call: keeps it in memory
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNEL_H_
