// SPDX-License-Identifier: Apache-2.0
// Lists the numeric keys of a target file, a row for each.
//
// The reader, the writer and `kirsch help TARGET` share these tables, so a key that is added here is read,
// checked, written and listed. Units and defaults are documented in docs/targets.md; what a key means is at
// its member in spec/target.h.
#ifndef KIRSCH_SPEC_TARGET_TARGET_KEYS_H_
#define KIRSCH_SPEC_TARGET_TARGET_KEYS_H_

#include <cstdint>
#include <string_view>
#include <variant>

#include "spec/target.h"

namespace kirsch {

// One key: its name in the file, the member that it sets, and its range. A member of an integer type takes
// whole numbers only.
template <typename Struct>
struct NumericKey {
  std::string_view name;
  std::variant<int Struct::*, int64_t Struct::*, double Struct::*> member;
  double low;  // smallest and largest accepted value
  double high;
};

// A key's former name and its present one. Files with former names are still read; they are written with
// present ones.
struct RenamedKey {
  std::string_view former, name;
};
inline constexpr RenamedKey kRenamedKeys[] = {
    {"far_line_cycles", "wide_load_cycles_per_line"},
    {"sharers", "threads_per_cache"},
    {"lone_cycles_per_line", "single_stream_cycles_per_line"},
    {"pieces_cycles_per_line", "short_run_cycles_per_line"},
    {"crowded_cycles_per_line", "set_conflict_cycles_per_line"},
    {"beside_cycles_per_line", "lhs_contention_cycles_per_line"},
    {"usable", "capacity_share"},
    {"usable_beside_ram", "capacity_share_beside_ram"},
};

// The present name, if `key` is a former one; else `key` itself.
constexpr std::string_view CurrentName(std::string_view key) {
  for (const RenamedKey& renamed : kRenamedKeys)
    if (key == renamed.former) return renamed.name;
  return key;
}

// The largest number of cycles that a key may have. It is far more than anything takes, and so little that
// the cost of no spec overflows.
inline constexpr double kMostCycles = 1e4;

// Of the outermost object.
inline constexpr NumericKey<Target> kTargetKeys[] = {
    {"ghz", &Target::ghz, 0.1, 10},
    {"cores", &Target::cores, 1, 4096},
    {"line_bytes", &Target::line_bytes, 16, 1024},
    {"page_bytes", &Target::page_bytes, 1024, 1 << 30},
    {"l1_dtlb_entries", &Target::l1_dtlb_entries, 1, 1 << 20},
    {"issue_width", &Target::issue_width, 0.25, 64},
    {"window", &Target::window, 16, 4096},
    {"loop_cycles", &Target::loop_cycles, 0, kMostCycles},
    {"microkernel_cycles", &Target::microkernel_cycles, 0, kMostCycles},
    {"fork_join_cycles", &Target::fork_join_cycles, 0, 1e8},
    {"barrier_cycles", &Target::barrier_cycles, 0, 1e8},
};

// Of each object of `vectors`. The same objects have the keys of kRateKeys and kWideningKeys, and `masks`,
// which is no number.
inline constexpr NumericKey<VectorUnit> kVectorKeys[] = {
    {"bytes", &VectorUnit::bytes, 16, 64},
    {"registers", &VectorUnit::registers, 8, 32},  // the least with which every arithmetic has a tile
    {"fma_per_cycle", &VectorUnit::fma_per_cycle, 0.0625, 16},
    {"loads_per_cycle", &VectorUnit::loads_per_cycle, 0.0625, 16},
    {"stores_per_cycle", &VectorUnit::stores_per_cycle, 0.0625, 16},
    {"fma_latency", &VectorUnit::fma_latency, 1, 64},
    {"fma_chains", &VectorUnit::fma_chains, 0, 256},
    {"elementwise_per_fma", &VectorUnit::elementwise_per_fma, 0.25, 4},
    {"widen_cycles", &VectorUnit::widen_cycles, 0, kMostCycles},
    {"masked_store_cycles", &VectorUnit::masked_store_cycles, 0, kMostCycles},
    {"masked_load_cycles", &VectorUnit::masked_load_cycles, 0, kMostCycles},
    {"piece_cycles", &VectorUnit::piece_cycles, 0, kMostCycles},
    {"split_load_cycles", &VectorUnit::split_load_cycles, 0, kMostCycles},
    {"unaligned_load_cycles", &VectorUnit::unaligned_load_cycles, 0, kMostCycles},
    {"halving_cycles", &VectorUnit::halving_cycles, 0, kMostCycles},
    {"wide_load_cycles_per_line", &VectorUnit::wide_load_cycles_per_line, 0, kMostCycles},
    {"wide_step_cycles_per_line", &VectorUnit::wide_step_cycles_per_line, 0, kMostCycles},
    {"transpose_cycles", &VectorUnit::transpose_cycles, 0, kMostCycles},
};

// Of `matrix`. The size of a tile is no key: kTileRows and kTileRowBytes.
inline constexpr NumericKey<MatrixUnit> kMatrixKeys[] = {
    {"registers", &MatrixUnit::registers, 3, 8},
    {"row_cycles", &MatrixUnit::row_cycles, 0.0625, kMostCycles},
    {"least_product_cycles", &MatrixUnit::least_product_cycles, 0, kMostCycles},
    {"configure_cycles", &MatrixUnit::configure_cycles, 0, kMostCycles},
};

// Of a vector unit: each comes after the `timing` of every instruction that has one: "mul_per_cycle".
inline constexpr NumericKey<ArithmeticRate> kRateKeys[] = {
    {"_per_cycle", &ArithmeticRate::per_cycle, 0.0625, 16},
    {"_latency", &ArithmeticRate::latency, 1, 64},
    {"_chains", &ArithmeticRate::chains, 0, 256},
};

// Of a vector unit: each comes after the name of every type that is narrower than what it is computed with:
// "bf16_widen_cycles".
inline constexpr NumericKey<WideningCosts> kWideningKeys[] = {
    {"_widen_cycles", &WideningCosts::vector, 0, kMostCycles},
    {"_broadcast_cycles", &WideningCosts::broadcast, 0, kMostCycles},
    {"_widen_fma_cycles", &WideningCosts::vector_fma, 0, kMostCycles},
    {"_broadcast_fma_cycles", &WideningCosts::broadcast_fma, 0, kMostCycles},
    {"_copy_cycles", &WideningCosts::copy, 0, kMostCycles},
};

// Of L1, L2 and L3 in `memory`. RAM has none of these, as it is unlimited.
inline constexpr NumericKey<MemoryLevel> kCapacityKeys[] = {
    {"bytes", &MemoryLevel::bytes, 1024, 1LL << 33},
    {"ways", &MemoryLevel::ways, 1, 1024},
    {"capacity_share", &MemoryLevel::capacity_share, 0.0625, 1},
    {"capacity_share_beside_ram", &MemoryLevel::capacity_share_beside_ram, 0.0625, 1},
};

// Of each level in `memory`, RAM included.
inline constexpr NumericKey<MemoryLevel> kTransferKeys[] = {
    {"threads_per_cache", &MemoryLevel::threads_per_cache, 1, 4096},
    {"cycles_per_line", &MemoryLevel::cycles_per_line, 0, kMostCycles},
    {"shared_cycles_per_line", &MemoryLevel::shared_cycles_per_line, 0, kMostCycles},
    {"unstreamed_cycles_per_line", &MemoryLevel::unstreamed_cycles_per_line, 0, kMostCycles},
    {"ramp_lines", &MemoryLevel::ramp_lines, 0, 1 << 20},
    {"streams", &MemoryLevel::streams, 0, 1 << 20},
    {"run_cycles", &MemoryLevel::run_cycles, 0, kMostCycles},
    {"single_stream_cycles_per_line", &MemoryLevel::single_stream_cycles_per_line, 0, kMostCycles},
    {"short_run_cycles_per_line", &MemoryLevel::short_run_cycles_per_line, 0, kMostCycles},
    {"set_conflict_cycles_per_line", &MemoryLevel::set_conflict_cycles_per_line, 0, kMostCycles},
    {"unprefetched_cycles_per_line", &MemoryLevel::unprefetched_cycles_per_line, 0, kMostCycles},
    {"prefetch_lines", &MemoryLevel::prefetch_lines, 1, 1 << 20},
    {"prefetch_streams", &MemoryLevel::prefetch_streams, 0, 1 << 20},
    {"prefetched_cycles_per_line", &MemoryLevel::prefetched_cycles_per_line, 0, kMostCycles},
    {"lhs_contention_cycles_per_line", &MemoryLevel::lhs_contention_cycles_per_line, 0, kMostCycles},
    {"overrun_lines", &MemoryLevel::overrun_lines, 0, 1 << 20},
    {"cycles_per_page", &MemoryLevel::cycles_per_page, 0, kMostCycles},
    {"write_factor", &MemoryLevel::write_factor, 1, 100},
    {"stream_factor", &MemoryLevel::stream_factor, 0, 100},
    {"overlap", &MemoryLevel::overlap, 0, 1},
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGET_KEYS_H_
