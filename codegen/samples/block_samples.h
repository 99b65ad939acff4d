// SPDX-License-Identifier: Apache-2.0
// Makes weights of blocks for self-tests: a few blocks whose elements are integers, laid one after the other
// as numbers that look random say. The C text has the blocks and their elements, so it need not decode any.
#ifndef KIRSCH_CODEGEN_SAMPLES_BLOCK_SAMPLES_H_
#define KIRSCH_CODEGEN_SAMPLES_BLOCK_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/dtype.h"

namespace kirsch {

// Returns an array of so many elements, whole blocks of type `dtype`.
std::vector<std::byte> SampledBlocks(Dtype dtype, int64_t elements);

// Returns two C functions. $FILE_fill_<type>(data, first, elements) writes so many elements of that array,
// from the first one on, to their places in `data`. $FILE_get_<type>(i) returns element number i; it is there
// if `gets`. A longer array begins with the same elements as a shorter one.
std::string BlockSamplesText(Dtype dtype, bool gets);

// Returns a C expression: the bytes of so many elements. `elements` is a C expression, too.
std::string BytesText(Dtype dtype, const std::string& elements);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_BLOCK_SAMPLES_H_
