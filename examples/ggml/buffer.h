// SPDX-License-Identifier: Apache-2.0
// Buffers of weights: plain memory that any backend may read, with the copies of matrices that Kirsch's
// kernels read.
#ifndef KIRSCH_EXAMPLES_GGML_BUFFER_H_
#define KIRSCH_EXAMPLES_GGML_BUFFER_H_

#include <cstddef>

#include "ggml-backend-impl.h"
#include "weights.h"

namespace kirsch_ggml {

// Of `device`, of which there is one.
ggml_backend_buffer_type_t BufferType(ggml_backend_dev_t device);

// Of memory that is someone else's, a file's for instance.
ggml_backend_buffer_t BufferAt(ggml_backend_dev_t device, void* memory, size_t bytes);

// Whether there is a product by these weights, which lie in one of our buffers or might: makes the kernel.
// No: of types that Kirsch doesn't know, of what is no matrix or has gaps. Why a search failed goes to
// standard error.
bool HasProduct(const ggml_tensor& weights);

// Of weights in one of our buffers: packs them the first time.
kirsch::Result<products::Weights> WeightsOf(const ggml_tensor& weights);

}  // namespace kirsch_ggml

#endif  // KIRSCH_EXAMPLES_GGML_BUFFER_H_
