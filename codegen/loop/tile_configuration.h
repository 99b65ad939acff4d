// SPDX-License-Identifier: Apache-2.0
// Places the statements that configure the tiles of a matrix unit: in the entry, before calls of procedures
// that need other numbers of rows.
#ifndef KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_
#define KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_

#include "codegen/loop/loop_program.h"

namespace kirsch {

// A configuration takes as long as a small kernel and clears the tiles. So each is made as far outside of
// loops as it holds. At the end the tiles are released. Does nothing if no procedure uses tiles.
void ConfigureTiles(LoopProgram* program);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_TILE_CONFIGURATION_H_
