// SPDX-License-Identifier: Apache-2.0
// Adds slices, pads, concatenations and windows of all dims of a tensor as operations along one dim each,
// which is what the kernel language has. Internal to the folder.
#ifndef KIRSCH_IMPORT_ALONG_DIMS_H_
#define KIRSCH_IMPORT_ALONG_DIMS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "import/tensor_program_builder.h"
#include "spec/graph/graph.h"

namespace kirsch {

// All of these return the value that they make, which may be one that is there. Numbers come from the
// program, one for each dim, and may be any. InvalidArgument at the operation of Begin if they do not fit the
// tensor.

// The indices from `start` on, `step` apart, as many as `sizes` says.
absl::StatusOr<int> SliceDims(int value, const std::vector<int64_t>& start, const std::vector<int64_t>& sizes,
                              const std::vector<int64_t>& step, TensorProgramBuilder* builder);

// `number` before and after each dim.
absl::StatusOr<int> PadDims(int value, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                            double number, TensorProgramBuilder* builder);

// The tensors one behind the other.
absl::StatusOr<int> ConcatDims(std::vector<int> values, int64_t dim, TensorProgramBuilder* builder);

// How windows go along a dim.
struct DimWindow {
  int64_t size = 1, stride = 1, dilation = 1, before = 0, after = 0;
};
// The sums, or the largest elements, of windows; what is around the tensor changes nothing.
absl::StatusOr<int> WindowDims(int value, bool sum, const std::vector<DimWindow>& windows,
                               TensorProgramBuilder* builder);

// How many elements of the tensor there are in each window, for each of them.
ConstantTensor ElementsInWindows(const std::vector<int64_t>& shape, const std::vector<DimWindow>& windows);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_ALONG_DIMS_H_
