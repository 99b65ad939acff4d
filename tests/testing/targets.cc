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

Target Avx512Target() {
  Target target = WithCaches("avx512-test", "skylake-avx512");
  target.features = {"avx", "avx2", "fma", "avx512f", "avx512vl", "avx512dq", "avx512bw"};
  target.vectors = {Unit(64, 32, true), Unit(32, 32, true)};
  return target;
}

}  // namespace kirsch::testing
