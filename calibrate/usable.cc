#include "calibrate/usable.h"

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
constexpr double kFarShares[] = {0.125, 0.25, 0.375, 0.5, 0.75, 1};  // of L3
constexpr double kDigits = 100;                                      // of a share
constexpr int kRows = 6, kTiles = 64;  // so that all operands together are in a level beyond

Target WithAllUsable(Target target) {
  for (MemoryLevel& level : target.memory) level.usable = 1;
  return target;
}

// Times as slow as what is surely in the cache: with this much of a matrix beyond it, the rest is of no use.
constexpr double kIsBeyond = 1.1;

constexpr int64_t kColumns = 4096;

// A problem, and the program of it that fills the share.
struct Filler {
  std::string problem, schedule;  // an empty schedule: the model's choice
};

Filler FillerOf(Level level, double share, const Target& target) {
  const auto bytes = static_cast<int64_t>(share * static_cast<double>(target.at(level).bytes));
  const int lanes = target.vectors.front().lanes(), columns = 2 * lanes;
  const std::string registers = Cat("move out VRF vectors", lanes, "\n");
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

// Measured over predicted: the mean over memories but the worst, which may be somebody else's doing.
absl::StatusOr<double> RatioOf(const Filler& filler, const Target& target, int memories,
                               const ExperimentOptions& options) {
  Laboratory laboratory(target, 1);
  Experiment experiment = {filler.problem, 1};
  experiment.schedule = filler.schedule;
  const absl::StatusOr<PreparedExperiment> prepared = laboratory.Prepare(experiment);
  if (!prepared.ok()) return prepared.status();
  std::vector<double> ratios;
  while (std::ssize(ratios) < memories) {
    const absl::StatusOr<std::vector<Observation>> observed = Observe(*prepared, options);
    if (!observed.ok()) return observed.status();
    if (observed->empty()) return absl::CancelledError("stopped");
    ratios.push_back(observed->front().cycles / observed->front().predict(laboratory.model()));
  }
  std::sort(ratios.begin(), ratios.end());
  if (ratios.size() > 1) ratios.pop_back();
  return std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
}

// The nearest slowdowns that never fall: neighbours that do are pooled.
std::vector<double> Rising(const std::vector<Filling>& fillings) {
  struct Pool {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const Filling& filling : fillings) {
    pools.push_back({filling.slowdown, 1});
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

Usable UsableOf(const std::vector<Filling>& fillings) {
  const std::vector<double> slowdowns = Rising(fillings);
  const double hurts = kHurts * slowdowns.front();
  for (size_t i = 1; i < fillings.size(); ++i) {
    if (slowdowns[i] <= hurts) continue;
    const double from = fillings[i - 1].share, to = fillings[i].share;
    const double part = (hurts - slowdowns[i - 1]) / (slowdowns[i] - slowdowns[i - 1]);
    return {std::round(kDigits * (from + part * (to - from))) / kDigits, to};
  }
  return {fillings.back().share, fillings.back().share};
}

int64_t SharedBytesOf(const std::vector<SizeSlowdown>& slowdowns, int64_t all) {
  for (size_t i = 1; i < slowdowns.size(); ++i) {
    if (slowdowns[i].slowdown <= kIsBeyond) continue;
    const SizeSlowdown &less = slowdowns[i - 1], &more = slowdowns[i];
    const double part = (kIsBeyond - less.slowdown) / (more.slowdown - less.slowdown);
    const double bytes =
        static_cast<double>(less.bytes) + part * static_cast<double>(more.bytes - less.bytes);
    return static_cast<int64_t>(bytes) >> 20 << 20;
  }
  return all;
}

absl::StatusOr<int64_t> MeasureSharedBytes(const Target& target, const ExperimentOptions& options) {
  constexpr int kMemories = 2;
  const int64_t all = target.at(Level::kL3).bytes;
  const Target all_usable = WithAllUsable(target);
  std::vector<SizeSlowdown> slowdowns;
  double near = 0;
  for (int64_t bytes = 4 * target.at(Level::kL2).bytes; bytes <= std::min(all / 2, kMostBytes); bytes *= 2) {
    const double share = static_cast<double>(bytes) / static_cast<double>(all);
    const absl::StatusOr<double> ratio =
        RatioOf(FillerOf(Level::kL3, share, target), all_usable, kMemories, options);
    if (!ratio.ok()) return ratio.status();
    if (slowdowns.empty()) near = *ratio;
    slowdowns.push_back({bytes, *ratio / near});
  }
  return SharedBytesOf(slowdowns, all);
}

absl::StatusOr<std::vector<Filling>> MeasureFillings(Level level, const Target& target, int memories,
                                                     const ExperimentOptions& options) {
  const Target all_usable = WithAllUsable(target);
  std::vector<Filling> fillings;
  double least = 0;
  const auto measure = [&](double share) {
    const absl::StatusOr<double> ratio =
        RatioOf(FillerOf(level, share, target), all_usable, memories, options);
    if (!ratio.ok()) return ratio.status();
    if (fillings.empty()) least = *ratio;
    fillings.push_back({share, *ratio / least});
    return absl::OkStatus();
  };
  absl::Status status;
  if (level == Level::kL3) {
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
