// SPDX-License-Identifier: Apache-2.0
// Code that can be called, whatever it was made from and by.
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

// One call of a kernel, as one of `n_threads` threads and for one of its phases.
struct KernelCall {
  absl::Span<void* const> tensors;  // the problem's, but for what is packed
  void* scratch = nullptr;
  size_t thread = 0, n_threads = 1;
  void* shared = nullptr;
  size_t phase = 0;
};

// Something that claims to compute a problem: what is verified, and what is measured.
struct Kernel {
  std::string name;
  std::function<void(const KernelCall&)> run;
  int64_t scratch_bytes = 0;  // per thread
  int phases = 1;
  int64_t shared_bytes = 0;
  bool shares_work = true;  // else one thread does all of it, in one phase
  // What it takes packed, by number: `pack` is called with these tensors, then the packed memory, which is
  // tensor number `packed_place` of each call, instead of them.
  std::vector<size_t> packed = {};
  size_t packed_place = 0;
  int64_t packed_bytes = 0;
  std::function<void(absl::Span<void* const> tensors)> pack = {};
  std::function<absl::Status()> complaint = {};  // what it found wrong itself in its last call
  std::shared_ptr<const void> code = {};         // that the functions call
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNEL_H_
