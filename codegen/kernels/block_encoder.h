// SPDX-License-Identifier: Apache-2.0
// Writes copies that round rows of f32 to integers which share scales (EncodeQ8 in spec/block.h), so that
// microkernels multiply integers. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_
#define KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_

#include "codegen/kernels/pack.h"

namespace kirsch {

// The procedure is (from, to). Its source's rows stay rows.
Procedure EncodingProcedure(const Pack& pack);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_BLOCK_ENCODER_H_
