// SPDX-License-Identifier: Apache-2.0
// Where the tiles of a matrix unit are configured: in the entry, before calls of procedures that need other
// rows.
#ifndef KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_
#define KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// A configuration takes as long as a small kernel, so each is made as far outside of loops as it holds. At
// the end the tiles are released.
void ConfigureTiles(LoopProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_
