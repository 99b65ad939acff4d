// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

VectorUnit Unit(int bytes, int registers, bool masks) {
  VectorUnit unit;
  unit.bytes = bytes;
  unit.registers = registers;
  unit.masks = masks;
  unit.fma_per_cycle = 2;
  unit.loads_per_cycle = 2;
  unit.stores_per_cycle = 1;
  return unit;
}

MemoryLevel Cache(int64_t bytes, double cycles_per_line) {
  MemoryLevel level;
  level.bytes = bytes;
  level.cycles_per_line = cycles_per_line;
  return level;
}

// A cache of `lines` of 16 bytes, and what its lines cost, streamed or not.
MemoryLevel TinyCache(int lines, int threads_per_cache, double cycles_per_line, double unstreamed,
                      double overlap) {
  MemoryLevel level = Cache(lines * 16, cycles_per_line);
  level.ways = 2;
  level.capacity_share_beside_ram = 0.75;
  level.threads_per_cache = threads_per_cache;
  level.shared_cycles_per_line = 0.7 * cycles_per_line;
  level.unstreamed_cycles_per_line = unstreamed;
  level.cycles_per_page = unstreamed;
  level.ramp_lines = 1;
  level.streams = 3;
  level.run_cycles = 1.5 * unstreamed;
  level.single_stream_cycles_per_line = 0.5 * unstreamed;
  level.set_conflict_cycles_per_line = 0.75 * unstreamed;
  level.unprefetched_cycles_per_line = 0.25 * unstreamed;
  level.prefetched_cycles_per_line = 0.1 * unstreamed;
  level.lhs_contention_cycles_per_line = 0.3 * unstreamed;
  level.prefetch_lines = 3;
  level.prefetch_streams = 2;
  level.overrun_lines = unstreamed > 0 ? 1 : 0;
  level.overlap = overlap;
  return level;
}

// Vectors that take multiply-add units to load: some widen, some are masked or put together of pieces.
VectorUnit TinyUnit(int bytes) {
  VectorUnit unit = Unit(bytes, 6, false);
  unit.widen_cycles = 0.125;
  unit.masked_load_cycles = 0.75;
  unit.piece_cycles = 0.375;
  unit.split_load_cycles = 0.25;
  unit.unaligned_load_cycles = 0.875;
  unit.wide_load_cycles_per_line = 0.0625 * bytes;
  unit.wide_step_cycles_per_line = 0.5;
  for (WideningCosts& costs : unit.widening) {
    costs.vector_fma = 0.5;
    costs.broadcast_fma = 1.25;
  }
  return unit;
}

Target WithCaches(const char* name, const char* cpu) {
  Target target;
  target.name = name;
  target.cpu = cpu;
  target.memory = {MemoryLevel{}, Cache(32 << 10, 1), Cache(1 << 20, 4), Cache(16 << 20, 10), Cache(0, 30)};
  return target;
}

}  // namespace

Target Avx2Target() {
  Target target = WithCaches("avx2-test", "haswell");
  target.features = {"avx", "avx2", "fma"};
  target.vectors = {Unit(32, 16, false)};
  return target;
}

Target Avx2DotTarget() {
  Target target = Avx2Target();
  target.name = "avx2dot-test";
  target.cpu = "sierraforest";
  target.features.push_back("avxvnni");
  return target;
}

Target Avx512Target() {
  Target target = WithCaches("avx512-test", "skylake-avx512");
  target.features = {"avx", "avx2", "fma", "avx512f", "avx512vl", "avx512dq", "avx512bw"};
  target.vectors = {Unit(64, 32, true), Unit(32, 32, true)};
  return target;
}

Target Avx512DotTarget() {
  Target target = Avx512Target();
  target.name = "avx512dot-test";
  target.cpu = "sapphirerapids";
  target.features.insert(target.features.end(), {"avx512vnni", "avx512bf16"});
  return target;
}

Target MatrixTarget() {
  Target target = Avx512DotTarget();
  target.name = "matrix-test";
  target.features.insert(target.features.end(), {"amx-tile", "amx-bf16", "amx-int8"});
  target.matrix.emplace().configure_cycles = 0;  // so that small programs multiply tiles, too
  return target;
}

Target Avx512TablesTarget() {
  Target target = Avx512DotTarget();
  target.name = "avx512tables-test";
  target.features.push_back("avx512vbmi");
  return target;
}

Target TinyTarget() {
  Target target = WithCaches("tiny-test", "haswell");
  target.features = {"avx", "avx2", "fma"};
  target.vectors = {TinyUnit(32), TinyUnit(16)};
  target.line_bytes = 16;
  target.page_bytes = 128;
  target.l1_dtlb_entries = 2;
  target.fork_join_cycles = 20;
  target.memory[Index(Level::kL1)] = TinyCache(8, 1, 1, 0, 1);
  target.memory[Index(Level::kL2)] = TinyCache(32, 1, 2.5, 1.5, 0.75);
  target.memory[Index(Level::kL3)] = TinyCache(128, 2, 4.25, 3, 0.5);
  target.memory[Index(Level::kRam)] = TinyCache(0, 2, 11, 9, 0.3);
  target.memory[Index(Level::kRam)].write_factor = 1.5;
  return target;
}

Target TinyDotTarget() {
  Target target = TinyTarget();
  target.name = "tinydot-test";
  target.features.insert(target.features.end(), {"avx512vl", "avx512vnni", "avx512bf16"});
  return target;
}

}  // namespace kirsch::testing
