// SPDX-License-Identifier: Apache-2.0
// A kernel that is asked for, and its operands as callers see them. Internal to library/.
#ifndef KIRSCH_LIBRARY_REQUEST_H_
#define KIRSCH_LIBRARY_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/dtype.h"
#include "spec/language/kernel_file.h"

namespace kirsch {

// One that is called has these in the request's order; see kirsch_operand.
struct CallOperand {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape, stride;
  bool output = false, read = true, constant = false;
};

// The kernel of `text` that is called `kernel`; empty: the only one. Convolutions are graphs where they may
// be, so that a search may find Winograd's algorithm.
absl::StatusOr<KernelRequest> ParseOneKernel(const std::string& text, const std::string& kernel);

// The family's member with these sizes.
absl::StatusOr<int64_t> FindMember(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> values);

// Inputs in their order, then the output.
std::vector<CallOperand> OperandsOf(const KernelRequest& request, int64_t member);

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_REQUEST_H_
