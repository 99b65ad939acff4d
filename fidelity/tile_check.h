// SPDX-License-Identifier: Apache-2.0
// Register tiles as predicted before there is code for them, held against their machine code, the machine,
// and LLVM's analyser.
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

struct TileCheck {
  std::string spec;
  std::string form;                          // "6x2 vectors of 8, fma"
  TileFacts facts;                           // predicted, of a trip of the main loop
  LoopCode loop;                             // found
  std::optional<double> measured, analysed;  // cycles of a trip, operands in L1

  bool registers_are_right() const { return facts.registers == loop.vector_registers; }
  bool spills_are_right() const { return facts.spills == loop.vector_spills; }
  double instructions_error() const;  // a share of those found
};

struct TileCheckOptions {
  int kernels = 240;
  uint64_t seed = 1;
  bool measure = true;  // on this machine, if it can run the target's code
  int rounds = 5;
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};
};

// Draws, compiles, disassembles, measures. Cycles of a trip are what a longer reduction takes more than a
// shorter one, so that entries count for nothing. An error is the code generator's or the worker's.
absl::StatusOr<std::vector<TileCheck>> CheckTiles(const Target& target, const TileCheckOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TILE_CHECK_H_
