// SPDX-License-Identifier: Apache-2.0
// Describes a target: one CPU, as the search sees it. The search asks nothing else of a CPU, so it makes
// kernels for any target on any host. A target is read from a JSON file (see docs/targets.md for each key,
// its unit and its default). All costs are in cycles of the core at its sustained clock.
#ifndef KIRSCH_SPEC_TARGET_H_
#define KIRSCH_SPEC_TARGET_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/instruction.h"
#include "spec/level.h"

namespace kirsch {

class Extension;

// The capacity of one cache, and what it costs to bring data from it to the core; or of RAM, whose `bytes` is
// unlimited.
struct MemoryLevel {
  int64_t bytes = 0;
  int ways = 8;
  double capacity_share = 1;  // 0..1: the share of it that may be filled; the rest is for what streams by
  double capacity_share_beside_ram = 1;   // 0..1: of programs that read an input from RAM, if that is less
  int threads_per_cache = 1;              // cores that share one instance
  double cycles_per_line = 0;             // sequential read, one core
  double shared_cycles_per_line = 0;      // the same, a floor for all cores of the instance together
  double unstreamed_cycles_per_line = 0;  // extra for a line that the prefetcher does not bring in time ...
  double ramp_lines = 0;                  // ... as are the first lines of each run of consecutive lines
  int streams = 12;                       // ... and all lines, if this many runs are read side by side
  double run_cycles = 0;  // extra for each run that ends with its tile, unless it is one long stream
  double single_stream_cycles_per_line =
      0;  // extra for a line of a run that is read alone; of n side by side 1/n^2
  // Extra for a line of a tile that is prefetched while the tile before is used.
  double short_run_cycles_per_line = 0;
  double set_conflict_cycles_per_line = 0;  // extra for a line whose tile's rows evict each other from L1
  double unprefetched_cycles_per_line = 0;  // extra for a line that no prefetch instruction asks for in time:
  int prefetch_lines = 16;                  // with this many lines on their way ...
  int prefetch_streams = 64;                // ... and of no more runs than this
  double prefetched_cycles_per_line = 0;    // extra for a line that one asks for, in time or not
  double lhs_contention_cycles_per_line = 0;  // extra for a line of lhs that is read beside rhs from here
  int overrun_lines = 0;                      // fetched in vain at the end of each run of a walk along rows
  double cycles_per_page = 0;                 // extra for each page beyond those the first-level TLB holds
  double write_factor = 1;   // a line that is written costs so many lines read, with bringing it
  double stream_factor = 1;  // so does a line stored past the caches; of RAM only
  double overlap = 0;        // 0..1: the share of a transfer that hides behind arithmetic

  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

// The rates that the instructions' table has as defaults.
constexpr std::array<ArithmeticRate, kNumArithmetics> DefaultRates() {
  std::array<ArithmeticRate, kNumArithmetics> rates = {};
  for (size_t i = 0; i < rates.size(); ++i) rates[i] = kInstructions[i].rate;
  return rates;
}

// The costs of making elements of a narrow type what is computed with. They are cycles of the port for
// shuffles, and of the multiply-add units beside VectorUnit::widen_cycles.
struct WideningCosts {
  double vector = 1;                         // to widen a vector of them
  double broadcast = 1;                      // to widen one that is broadcast
  double vector_fma = 0, broadcast_fma = 0;  // the same, of the multiply-add units
  double copy =
      1.5;  // in a copy: to widen a vector, or shift it into its place in words of several, and merge it

  friend bool operator==(const WideningCosts&, const WideningCosts&) = default;
};

// A vector width that the search may use, with the rates and costs of its instructions.
struct VectorUnit {
  int bytes = 0;
  int registers = 0;
  bool masks = false;  // AVX-512 mask registers (else AVX2 maskload/maskstore)
  double fma_per_cycle = 0, fma_latency = 4, fma_chains = 0;           // see ArithmeticRate
  std::array<ArithmeticRate, kNumArithmetics> rates = DefaultRates();  // of rows with keys of their own
  double loads_per_cycle = 0;
  double stores_per_cycle = 0;
  double elementwise_per_fma = 1;    // elementwise instructions in the time of a multiply-add
  double widen_cycles = 0;           // of the multiply-add units, to widen one vector or broadcast
  double masked_store_cycles = 1;    // one vmaskmov store (units without mask registers)
  double masked_load_cycles = 0;     // that a vmaskmov load takes more than another one (likewise)
  double piece_cycles = 0;           // to put one piece into a vector that is loaded in pieces
  double split_load_cycles = 0;      // that a load across two lines of the cache takes more than another one
  double unaligned_load_cycles = 0;  // of the multiply-add units, for a load at no multiple of 8 bytes
  double halving_cycles = 1;         // to add one half of a vector's lanes to the other, in a sum along them
  double wide_load_cycles_per_line = 0;  // that a line of rhs from RAM takes more, loaded by these
  double wide_step_cycles_per_line = 0;  // that a line takes more where a step loads many (CostModel)
  double transpose_cycles = 0.25;        // an element of four bytes in a copy that turns a matrix
  std::array<WideningCosts, kDtypes.size()> widening = {};  // of types of less than four bytes

  // The lanes of a vector of accumulators of that type.
  int lanes(Dtype accumulator) const { return bytes / Bytes(accumulator); }
  // The rate of whole multiply-adds of the arithmetic. An arithmetic of several parts has its part's rate,
  // divided by their number.
  ArithmeticRate rate(Arithmetic arithmetic) const;
  const WideningCosts& widening_of(Dtype dtype) const { return widening[static_cast<size_t>(dtype)]; }

  friend bool operator==(const VectorUnit&, const VectorUnit&) = default;
};

// A unit that multiplies tiles (kTileRows, kTileRowBytes).
struct MatrixUnit {
  int registers = 8;                 // tiles
  double row_cycles = 1;             // of a product, for each row of lhs ...
  double least_product_cycles = 12;  // ... but no less
  double configure_cycles = 275;     // to say how many rows tiles have, once in a run

  friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

// The ISA features that code for `unit` needs, whatever it computes: AVX2 and FMA, and with masks, more than
// 16 registers or 64 bytes also AVX-512.
std::vector<std::string> FeaturesOf(const VectorUnit& unit);

// A CPU. A value; two targets with equal members are the same.
struct Target {
  std::string name;
  std::string cpu;  // LLVM's name, e.g. "znver4"
  std::vector<std::string>
      features;  // ISA features the code may use, LLVM's names: "avx2", "fma", "avx512f", ...
  double ghz = 3;
  int cores = 1;
  int line_bytes = 64;    // a power of two
  int page_bytes = 4096;  // a power of two
  int l1_dtlb_entries = 64;
  double issue_width = 6;           // micro-operations per cycle
  double window = 150;              // micro-operations that wait for operands, or are computed, at a time
  double loop_cycles = 1;           // one trip of a loop around non-leaf code
  double microkernel_cycles = 15;   // entering and leaving a microkernel: call, set-up, mispredicted exit
  double fork_join_cycles = 10000;  // starting and joining one parallel section
  double barrier_cycles = 2000;     // all threads of one waiting for each other
  std::vector<VectorUnit> vectors;  // widest first
  std::optional<MatrixUnit> matrix;
  std::array<MemoryLevel, kNumLevels> memory;  // indexed by Level; VRF unused
  // Prices and decisions that a user of the library adds; null: none. It is here because all that enumerate,
  // price or keep decisions have the target at hand. Files have none.
  std::shared_ptr<const Extension> extension;

  const MemoryLevel& at(Level level) const { return memory[static_cast<size_t>(level)]; }
  bool HasFeature(std::string_view feature) const;

  friend bool operator==(const Target&, const Target&) = default;
};

// Returns how `target` encodes an instruction for vectors of `unit`; null if it does not have it.
const Encoding* EncodingOf(Arithmetic arithmetic, const VectorUnit& unit, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_H_
