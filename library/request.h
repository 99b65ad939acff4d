// SPDX-License-Identifier: Apache-2.0
// Reads a kernel that is asked for, and describes its operands as callers see them. Internal to library/.
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

// An operand as kirsch_operand has it: elements lie at multiples of `stride`, in elements. A kernel is called
// with these in the request's order.
struct CallOperand {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape, stride;
  bool output = false, read = true, constant = false;
};

// Returns the kernel of `text` that is called `kernel`; empty: the only one. InvalidArgument if there is
// none, or several. Convolutions are graphs where they may be, so that a search may find Winograd's
// algorithm.
absl::StatusOr<KernelRequest> ParseOneKernel(const std::string& text, const std::string& kernel);

// Returns the number of the family's member with these sizes. The last size varies fastest. InvalidArgument
// if a value is none of the family's.
//
//   sizes m in {1, 2, 4}, n in {64, 128};  values {2, 128}  ->  1 * 2 + 1 = 3
absl::StatusOr<int64_t> FindMember(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> values);

// Returns the member's inputs in their order, then the outputs.
std::vector<CallOperand> OperandsOf(const KernelRequest& request, int64_t member);

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_REQUEST_H_
