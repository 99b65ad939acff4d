// SPDX-License-Identifier: Apache-2.0
// Provides buffers of weights: plain memory that any backend may read, with the copies of matrices that
// Kirsch's kernels read.
#ifndef KIRSCH_EXAMPLES_GGML_BUFFER_H_
#define KIRSCH_EXAMPLES_GGML_BUFFER_H_

#include <cstddef>

#include "ggml-backend-impl.h"
#include "weights.h"

namespace kirsch_ggml {

// Returns the type of our buffers, of which there is one, as there is one `device`.
ggml_backend_buffer_type_t BufferType(ggml_backend_dev_t device);

// Returns a buffer of memory that is someone else's, a file's for instance. That memory must outlive it.
ggml_backend_buffer_t BufferAt(ggml_backend_dev_t device, void* memory, size_t bytes);

// True if there is a product by these weights, which lie in one of our buffers or might. Makes the kernel,
// which may take seconds. False for types that Kirsch doesn't know, and for what is no matrix or has gaps.
// Why a search failed goes to standard error.
bool HasProduct(const ggml_tensor& weights);

// Returns the product and the packed matrix of weights in one of our buffers; packs them the first time.
kirsch::Result<products::Weights> WeightsOf(const ggml_tensor& weights);

}  // namespace kirsch_ggml

#endif  // KIRSCH_EXAMPLES_GGML_BUFFER_H_
