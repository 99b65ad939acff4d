// SPDX-License-Identifier: Apache-2.0
// Checks what is predicted of register tiles before there is code for them: against their machine code, the
// machine, and LLVM's machine code analyser.
#ifndef KIRSCH_FIDELITY_TILE_CHECK_H_
#define KIRSCH_FIDELITY_TILE_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/llvm/spills.h"
#include "cost/tile_facts.h"
#include "search/sampling/draw_tiles.h"
#include "spec/target.h"

namespace kirsch {

// One register tile as predicted and as found.
struct TileCheck {
  std::string spec;                          // a matmul that is this tile alone
  std::string form;                          // "6x2 vectors of 8, fma"
  TileFacts facts;                           // predicted, of a trip of the main loop
  LoopCode loop;                             // found in the machine code
  std::optional<double> measured, analysed;  // cycles of a trip, operands in L1; nothing if not known

  bool registers_are_right() const { return facts.registers == loop.vector_registers; }
  bool spills_are_right() const { return facts.spills == loop.vector_spills; }
  double instructions_error() const;  // a share of those found
};

// Says how many tiles are drawn, and how they are measured.
struct TileCheckOptions {
  int kernels = 240;  // drawn
  uint64_t seed = 1;
  bool measure = true;  // on this machine, if it can run the target's code
  int rounds = 5;
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};
};

// Draws register tiles, compiles, disassembles and measures them. Cycles of a trip are what a longer
// reduction takes more than a shorter one, so that entries count for nothing. `options.stop` ends it with
// what there is. An error is the code generator's or the worker's.
absl::StatusOr<std::vector<TileCheck>> CheckTiles(const Target& target, const TileCheckOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TILE_CHECK_H_
