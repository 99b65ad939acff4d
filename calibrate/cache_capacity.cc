// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cache_capacity.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr double kShares[] = {0.375, 0.5, 0.625, 0.75, 0.875, 1};
constexpr double kFarShares[] = {0.125, 0.25, 0.375, 0.5, 0.75, 1};  // of L3, or beside RAM
constexpr double kDigits = 100;                                      // of a share
constexpr int kRows = 6, kTiles = 64;  // so that all operands together are in a level beyond

// How much of the rise from a matrix that is surely in the cache to one that surely is not: slower than that,
// so much is beyond it that the rest is of no use. Less than the second is no rise at all, but noise.
constexpr double kIsBeyond = 0.1, kLeastRise = 0.5;

constexpr int64_t kColumns = 4096;

// A problem, and the program of it that fills the share.
struct Filler {
  std::string problem, schedule;  // an empty schedule: the model's choice
};

Filler MakeFiller(const FilledCache& cache, double share, const Target& target) {
  const Level level = cache.level;
  const auto bytes = static_cast<int64_t>(share * static_cast<double>(target.at(level).bytes));
  const int lanes = target.vectors.front().lanes(Dtype::kF32), columns = 2 * lanes;
  const std::string registers = Cat("move out VRF vectors", lanes, "\n");
  if (cache.beside_ram) {
    constexpr int kRowsBeside = 4;
    const int64_t row = bytes / kRowsBeside;
    return {Cat("matmul f32 ", kRowsBeside, "x", row / 4, "x", SurelyBeyond(target) / row, " rhs=col"),
            Cat("move lhs L1\n tile n 1\n  move out VRF sums", lanes, "\n   microkernel\n")};
  }
  if (level == Level::kL1)
    return {Cat("matmul f32 ", kRows * kTiles, "x", bytes / 4 / columns, "x", columns),
            Cat("move rhs L1\n tile m ", kRows, "\n  ", registers, "   microkernel\n")};
  if (level == Level::kL2) {
    constexpr int64_t kSteps = 256;
    return {Cat("matmul f32 ", kRows * kTiles, "x", kSteps, "x", bytes / 4 / kSteps / columns * columns),
            Cat("move rhs L2\n tile m ", kRows, "\n  move lhs L1\n   tile n ", columns, "\n    ", registers,
                "     microkernel\n")};
  }
  return {Cat("matmul f32 1x", bytes / 4 / kColumns, "x", kColumns), ""};
}

// Cycles, measured, of which the mean over memories but the worst, which may be somebody else's doing; and
// predicted.
struct Timing {
  double measured = 0, predicted = 0;
  double ratio() const { return measured / predicted; }
};

absl::StatusOr<Timing> MeasureTiming(const Filler& filler, const Target& target, int memories,
                                     const ExperimentOptions& options) {
  Laboratory laboratory(target, 1);
  Experiment experiment = {filler.problem, 1};
  experiment.schedule = filler.schedule;
  const absl::StatusOr<PreparedExperiment> prepared = laboratory.Prepare(experiment);
  if (!prepared.ok()) return prepared.status();
  Timing timing;
  std::vector<double> cycles;
  while (std::ssize(cycles) < memories) {
    const absl::StatusOr<std::vector<Observation>> observed = Observe(*prepared, options);
    if (!observed.ok()) return observed.status();
    if (observed->empty()) return absl::CancelledError("stopped");
    cycles.push_back(observed->front().cycles);
    timing.predicted = observed->front().predict(laboratory.model());
  }
  std::sort(cycles.begin(), cycles.end());
  if (cycles.size() > 1) cycles.pop_back();
  timing.measured = std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
  return timing;
}

// The nearest values that never fall: neighbours that do are pooled.
std::vector<double> Rising(const std::vector<double>& values) {
  struct Pool {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
    }
  }
  std::vector<double> rising;
  for (const Pool& pool : pools) rising.insert(rising.end(), pool.count, pool.mean());
  return rising;
}

}  // namespace

UsableShare FindUsableShare(const std::vector<Filling>& fillings, double hurts) {
  std::vector<double> slowdowns;
  for (const Filling& filling : fillings) slowdowns.push_back(filling.slowdown);
  slowdowns = Rising(slowdowns);
  hurts *= slowdowns.front();
  for (size_t i = 1; i < fillings.size(); ++i) {
    if (slowdowns[i] <= hurts) continue;
    const double from = fillings[i - 1].share, to = fillings[i].share;
    const double part = (hurts - slowdowns[i - 1]) / (slowdowns[i] - slowdowns[i - 1]);
    return {std::round(kDigits * (from + part * (to - from))) / kDigits, to};
  }
  return {fillings.back().share, fillings.back().share};
}

int64_t SharedBytesOf(const std::vector<SizeTime>& times, int64_t all) {
  if (times.size() < 2) return all;
  std::vector<double> cycles;
  for (const SizeTime& time : times) cycles.push_back(time.cycles_per_byte);
  cycles = Rising(cycles);
  const double rise = cycles.back() - cycles.front(), edge = cycles.front() + kIsBeyond * rise;
  if (rise < kLeastRise * cycles.front()) return all;
  for (size_t i = 1; i < times.size() && times[i].bytes <= all / 2; ++i) {
    if (cycles[i] <= edge) continue;
    const double part = (edge - cycles[i - 1]) / (cycles[i] - cycles[i - 1]);
    const double bytes = static_cast<double>(times[i - 1].bytes) +
                         part * static_cast<double>(times[i].bytes - times[i - 1].bytes);
    return static_cast<int64_t>(bytes) >> 20 << 20;
  }
  return all;
}

absl::StatusOr<int64_t> MeasureSharedBytes(const Target& target, const ExperimentOptions& options) {
  constexpr int kMemories = 2;
  const int64_t all = target.at(Level::kL3).bytes;
  const Target all_usable = WithAllUsable(target);
  std::vector<SizeTime> times;
  const auto measure = [&](int64_t bytes) {
    const double share = static_cast<double>(bytes) / static_cast<double>(all);
    const absl::StatusOr<Timing> timing =
        MeasureTiming(MakeFiller({Level::kL3}, share, target), all_usable, kMemories, options);
    if (timing.ok()) times.push_back({bytes, timing->measured / static_cast<double>(bytes)});
    return timing.status();
  };
  absl::Status status;
  for (int64_t bytes = 4 * target.at(Level::kL2).bytes; status.ok() && bytes <= std::min(all / 2, kMostBytes);
       bytes *= 2)
    status = measure(bytes);
  if (status.ok()) status = measure(std::min(4 * all, kMostBytes));
  if (!status.ok()) return status;
  return SharedBytesOf(times, all);
}

Target WithAllUsable(Target target) {
  for (MemoryLevel& level : target.memory) level.capacity_share = level.capacity_share_beside_ram = 1;
  return target;
}

std::string KeyName(const FilledCache& cache) {
  return Cat("memory.", Name(cache.level), ".capacity_share", cache.beside_ram ? "_beside_ram" : "");
}

absl::StatusOr<std::vector<Filling>> MeasureFillings(const FilledCache& cache, const Target& target,
                                                     int memories, const ExperimentOptions& options) {
  const Target all_usable = WithAllUsable(target);
  std::vector<Filling> fillings;
  double least = 0;
  const auto measure = [&](double share) {
    const absl::StatusOr<Timing> timing =
        MeasureTiming(MakeFiller(cache, share, target), all_usable, memories, options);
    if (!timing.ok()) return timing.status();
    if (fillings.empty()) least = timing->ratio();
    fillings.push_back({share, timing->ratio() / least});
    return absl::OkStatus();
  };
  absl::Status status;
  if (cache.level == Level::kL3 || cache.beside_ram) {
    for (double share : kFarShares)
      if (status.ok()) status = measure(share);
  } else {
    for (double share : kShares)
      if (status.ok()) status = measure(share);
  }
  if (!status.ok()) return status;
  return fillings;
}

}  // namespace kirsch
