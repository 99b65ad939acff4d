// SPDX-License-Identifier: Apache-2.0
// Copies that round rows of f32 to integers which share scales (EncodeQ8 in spec/block.h). Internal to
// codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_

#include "codegen/kernels/pack.h"

namespace kirsch {

// The procedure: (from, to), of rows that stay rows.
Procedure EncodingProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_
