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
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Shares that are measured. The first one is the reference for all slowdowns.
constexpr double kShares[] = {0.375, 0.5, 0.625, 0.75, 0.875, 1};
constexpr double kFarShares[] = {0.125, 0.25, 0.375, 0.5, 0.75, 1};  // of L3, or beside RAM
constexpr double kDigits = 100;                                      // of a share
constexpr int kRows = 6, kTiles = 64;  // so that all operands together are in a level beyond

// L3 ends at the size whose time has risen by kIsBeyond of the whole rise: by then so much lies beyond L3
// that the rest is of no use. The rise goes from a matrix that is surely in L3 to one that surely is not. A
// rise of less than kLeastRise of the first time is taken for noise.
constexpr double kIsBeyond = 0.1, kLeastRise = 0.5;

// Columns of the matrix that fills L3; its rows follow from the share.
constexpr int64_t kColumns = 4096;

// A problem, and the schedule of the program that fills the share. An empty schedule is the model's own
// choice.
struct Filler {
  std::string problem, schedule;  // an empty schedule: the model's choice
};

// Chooses sizes so that one operand takes `share` of the level. Schedules are written out, so that the
// program keeps exactly this operand there. For L3 any program will do, since the whole matrix is read once a
// call.
Filler MakeFiller(const FilledCache& cache, double share, const Target& target) {
  const Level level = cache.level;
  const auto bytes = static_cast<int64_t>(share * static_cast<double>(target.at(level).bytes));
  const int lanes = target.vectors.front().lanes(Dtype::kF32), columns = 2 * lanes;
  const std::string registers = Cat("move out VRF vectors", lanes, "\n");
  // Four rows of lhs take the share. The columns of rhs together are so large that no cache holds them.
  if (cache.beside_ram) {
    constexpr int kRowsBeside = 4;
    const int64_t row = bytes / kRowsBeside;
    return {Cat("matmul f32 ", kRowsBeside, "x", row / 4, "x", SurelyBeyond(target) / row, " rhs=col"),
            Cat("move lhs L1\n tile n 1\n  move out VRF sums", lanes, "\n   microkernel\n")};
  }
  // All of rhs takes the share of L1: `columns` wide, and as deep as it takes. Rows of lhs stream by, six at
  // a time.
  if (level == Level::kL1)
    return {Cat("matmul f32 ", kRows * kTiles, "x", bytes / 4 / columns, "x", columns),
            Cat("move rhs L1\n tile m ", kRows, "\n  ", registers, "   microkernel\n")};
  // All of rhs takes the share of L2, in panels of `columns`. The rows of lhs come through L1.
  if (level == Level::kL2) {
    constexpr int64_t kSteps = 256;
    return {Cat("matmul f32 ", kRows * kTiles, "x", kSteps, "x", bytes / 4 / kSteps / columns * columns),
            Cat("move rhs L2\n tile m ", kRows, "\n  move lhs L1\n   tile n ", columns, "\n    ", registers,
                "     microkernel\n")};
  }
  // One row of lhs by a matrix: all of the matrix is read once a call, and the next call finds the part that
  // L3 kept.
  return {Cat("matmul f32 1x", bytes / 4 / kColumns, "x", kColumns), ""};
}

// Cycles of one program. The measured ones are a mean over memories without the slowest memory, which may be
// somebody else's doing. The prediction takes out of the ratio what more elements cost anyway.
struct Timing {
  double measured = 0, predicted = 0;
  double ratio() const { return measured / predicted; }
};

// Times one program in several memories. Each Observe forks a process with an arena of its own, so pages lie
// elsewhere.
absl::StatusOr<Timing> MeasureTiming(const Filler& filler, const Target& target, int memories,
                                     const ExperimentOptions& options) {
  Laboratory laboratory(target, 1);
  Experiment experiment = {filler.problem, 1};
  experiment.schedule = filler.schedule;
  KIRSCH_ASSIGN_OR_RETURN(const PreparedExperiment prepared, laboratory.Prepare(experiment));
  // There are enough samples without many of one memory, and they differ less.
  ExperimentOptions few = options;
  few.rounds = std::min(options.rounds, 2);
  Timing timing;
  std::vector<double> cycles;
  while (std::ssize(cycles) < memories) {
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<Observation> observed, Observe(prepared, few));
    if (observed.empty()) return absl::CancelledError("stopped");
    cycles.push_back(observed.front().cycles);
    timing.predicted = observed.front().predict(laboratory.model());
  }
  std::sort(cycles.begin(), cycles.end());
  if (cycles.size() > 1) cycles.pop_back();
  timing.measured = std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
  return timing;
}

// Returns the nearest values that never fall (isotonic regression). Neighbours that fall are pooled to their
// mean: 1, 3, 2, 4 becomes 1, 2.5, 2.5, 4.
std::vector<double> Rising(const std::vector<double>& values) {
  struct Pool {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (double value : values) {
    pools.push_back({value, 1});
    // Pooling may make the new pool lower than the one before it, so this goes on to the left.
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

UsableCapacity FindUsableCapacity(const std::vector<Filling>& fillings, double hurts) {
  std::vector<double> slowdowns;
  for (const Filling& filling : fillings) slowdowns.push_back(filling.slowdown);
  slowdowns = Rising(slowdowns);
  // The first share may have been pooled with later ones, so its slowdown need not be 1.
  hurts *= slowdowns.front();
  for (size_t i = 1; i < fillings.size(); ++i) {
    if (slowdowns[i] <= hurts) continue;
    // The slowdown is taken to be linear between two measured shares.
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
  // The last size is not looked at: it is beyond L3 by construction, and tells nothing of where L3 ends.
  for (size_t i = 1; i < times.size() && times[i].bytes <= all / 2; ++i) {
    if (cycles[i] <= edge) continue;
    const double part = (edge - cycles[i - 1]) / (cycles[i] - cycles[i - 1]);
    const double bytes = static_cast<double>(times[i - 1].bytes) +
                         part * static_cast<double>(times[i].bytes - times[i - 1].bytes);
    // Whole megabytes: more digits would be noise.
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
  // From what L2 surely does not hold, in powers of two, up to half of what the target says.
  for (int64_t bytes = 4 * target.at(Level::kL2).bytes; status.ok() && bytes <= std::min(all / 2, kMostBytes);
       bytes *= 2)
    status = measure(bytes);
  // The last one is surely beyond L3, as far as one program may read at all.
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
  // This target allows full caches, so that schedules with a large share are legal.
  const Target all_usable = WithAllUsable(target);
  std::vector<Filling> fillings;
  double least = 0;
  const auto measure = [&](double share) {
    KIRSCH_ASSIGN_OR_RETURN(const Timing timing,
                            MeasureTiming(MakeFiller(cache, share, target), all_usable, memories, options));
    // The first and smallest share is the reference for the others.
    if (fillings.empty()) least = timing.ratio();
    fillings.push_back({share, timing.ratio() / least});
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
