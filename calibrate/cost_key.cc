// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cost_key.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "spec/target/target_json.h"
#include "spec/target/target_keys.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Keys that are no costs: sizes, and chains, which decide what code is made. Constants are fitted to code
// that is there.
constexpr std::string_view kSizes[] = {
    "ghz",       "cores", "line_bytes",        "page_bytes", "l1_dtlb_entries", "bytes",
    "registers", "ways",  "threads_per_cache", "fma_chains", "_chains"};
// Keys that are measured by a pattern each, see MakePatternKeys.
constexpr std::string_view kPatterns[] = {"capacity_share", "capacity_share_beside_ram", "fork_join_cycles",
                                          "barrier_cycles"};
constexpr std::string_view kSharedBytes = "memory.L3.bytes";

// The grain, in cycles, of costs that may be 0: less than this is nothing.
constexpr double kCycleGrain = 0.25;

// Ends the names of extra cycles a line, which are 0 by default. They may be as much as the line itself
// costs.
constexpr std::string_view kExtra = "_cycles_per_line";

// Ends the names of what a run of lines takes to begin. It may be as much as kLinesOfRun of its lines.
constexpr std::string_view kOfRun = "run_cycles";
constexpr std::string_view kOfPrefetch = ".prefetched_cycles_per_line";
constexpr double kLinesOfRun = 64;

// Shares, from 0 to 1, are known better than cycles.
constexpr double kFreedomOfShares = 0.2;

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds the keys of one part of the target: if `patterns` those with patterns of their own, else all other
// costs. `part` finds the part in a target. A key's name is path, prefix and the row's name: "vectors.32." +
// "bf16" + "_widen_cycles".
template <typename Struct>
void AddKeys(std::span<const NumericKey<Struct>> keys, const std::string& path, std::string_view prefix,
             const std::function<Struct&(Target&)>& part, std::vector<CostKey>* all, bool patterns = false) {
  for (const NumericKey<Struct>& row : keys) {
    if (IsIn(kSizes, row.name) || IsIn(kPatterns, row.name) != patterns) continue;
    CostKey key;
    key.name = Cat(path, prefix, row.name);
    key.low = row.low;
    key.high = row.high;
    // Integers are moved one at a time by the fit. For a key above 0 its logarithm needs no grain.
    key.whole = !std::holds_alternative<double Struct::*>(row.member);
    key.grain = key.whole ? 1 : row.low > 0 ? 0 : kCycleGrain;
    if (row.high == 1) key.freedom = kFreedomOfShares;
    key.get = [part, member = row.member](const Target& target) {
      // `part` serves both directions, so it takes a target that may be changed. Nothing is written here.
      const Struct& object = part(const_cast<Target&>(target));
      return std::visit([&](auto value) { return static_cast<double>(object.*value); }, member);
    };
    key.set = [part, member = row.member](double value, Target& target) {
      Struct& object = part(target);
      std::visit(
          [&](auto to) {
            using Value = std::remove_reference_t<decltype(object.*to)>;
            object.*to = static_cast<Value>(std::is_integral_v<Value> ? std::round(value) : value);
          },
          member);
    };
    all->push_back(std::move(key));
  }
}

Target& Itself(Target& target) { return target; }

std::function<MemoryLevel&(Target&)> LevelOf(Level level) {
  return [level](Target& of) -> MemoryLevel& { return of.memory[static_cast<size_t>(level)]; };
}

// Adds the keys of one vector unit: its own, those of instructions it has, and those of types that need
// widening.
void AddUnit(size_t number, const VectorUnit& unit, const Target& target, std::vector<CostKey>* all) {
  const std::string path = Cat("vectors.", unit.bytes, ".");
  AddKeys<VectorUnit>(
      kVectorKeys, path, "", [number](Target& of) -> VectorUnit& { return of.vectors[number]; }, all);
  for (const Instruction& row : kInstructions) {
    // An instruction that this unit lacks has no cost to be found.
    if (row.timing.empty() || EncodingOf(row.arithmetic, unit, target) == nullptr) continue;
    AddKeys<ArithmeticRate>(
        kRateKeys, path, row.timing,
        [number, arithmetic = row.arithmetic](Target& of) -> ArithmeticRate& {
          return of.vectors[number].rates[static_cast<size_t>(arithmetic)];
        },
        all);
  }
  // Blocks are never broadcast; what it takes to decode them is told by the widest vectors alone.
  constexpr std::span kOfVectors(kWideningKeys, 1), kOfCopies(std::prev(std::end(kWideningKeys)), 1);
  for (const DtypeInfo& row : kDtypes) {
    const auto add = [&](std::span<const NumericKey<WideningCosts>> keys) {
      AddKeys<WideningCosts>(
          keys, path, row.name,
          [number, dtype = row.dtype](Target& of) -> WideningCosts& {
            return of.vectors[number].widening[static_cast<size_t>(dtype)];
          },
          all);
    };
    // Types as wide as their sums are never widened. Blocks that callers can't have are in no problem of the
    // suite.
    if (!IsNarrow(row.dtype) || (IsOfBlocks(row.dtype) && (number > 0 || !IsOfCallers(row.dtype)))) continue;
    if (!IsOfBlocks(row.dtype)) {
      add(kWideningKeys);
    } else {
      add(kOfVectors);
      add(kOfCopies);
    }
  }
}

}  // namespace

std::vector<CostKey> MakePatternKeys() {
  std::vector<CostKey> keys;
  AddKeys<Target>(kTargetKeys, "", "", Itself, &keys, true);
  for (Level level : {Level::kL1, Level::kL2, Level::kL3})
    AddKeys<MemoryLevel>(kCapacityKeys, Cat("memory.", Name(level), "."), "", LevelOf(level), &keys, true);
  return keys;
}

CostKey SharedBytesKey() {
  CostKey key;
  key.name = kSharedBytes;
  key.whole = true;
  const auto bytes = [](Target& of) -> int64_t& { return of.memory[static_cast<size_t>(Level::kL3)].bytes; };
  const auto row = std::find_if(std::begin(kCapacityKeys), std::end(kCapacityKeys),
                                [](const auto& one) { return one.name == "bytes"; });
  key.low = row->low;
  key.high = row->high;
  key.get = [bytes](const Target& target) { return static_cast<double>(bytes(const_cast<Target&>(target))); };
  key.set = [bytes](double value, Target& target) { bytes(target) = std::llround(value); };
  return key;
}

Target WithCodeOf(const Target& target) {
  Target fixed = target;
  for (VectorUnit& unit : fixed.vectors) {
    unit.fma_chains = unit.rate(Arithmetic::kFma).wanted_chains();
    for (ArithmeticRate& rate : unit.rates) rate.chains = rate.wanted_chains();
  }
  return fixed;
}

std::vector<CostKey> MakeCostKeys(const Target& target) {
  std::vector<CostKey> keys;
  AddKeys<Target>(kTargetKeys, "", "", Itself, &keys);
  for (size_t i = 0; i < target.vectors.size(); ++i) AddUnit(i, target.vectors[i], target, &keys);
  for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
    const size_t first = keys.size();
    AddKeys<MemoryLevel>(kTransferKeys, Cat("memory.", Name(level), "."), "", LevelOf(level), &keys);
    const double line = target.at(level).cycles_per_line;
    // The suite has short runs, and programs that differ in prefetches only, from RAM alone: of closer levels
    // nothing tells what these take from what lines do.
    if (level != Level::kRam)
      std::erase_if(keys, [](const CostKey& key) {
        return key.name.ends_with(kOfRun) || key.name.ends_with(kOfPrefetch);
      });
    for (size_t k = first; k < keys.size(); ++k) {
      if (keys[k].name.ends_with(kExtra)) keys[k].grain = line;
      if (keys[k].name.ends_with(kOfRun)) keys[k].grain = line * kLinesOfRun;
    }
  }
  return keys;
}

Target WithDefaultCosts(Target target) {
  Target defaults = DefaultTarget();
  defaults.vectors.resize(target.vectors.size(), defaults.vectors.front());  // the same for every width
  std::vector<CostKey> keys = MakeCostKeys(target);
  for (CostKey& key : MakePatternKeys()) keys.push_back(std::move(key));
  for (const CostKey& key : keys) key.set(key.get(defaults), target);
  return target;
}

}  // namespace kirsch
