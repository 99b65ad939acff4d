#include "calibrate/usable.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr double kShares[] = {0.375, 0.5, 0.625, 0.75, 0.8125, 0.875, 0.9375, 1};
constexpr double kFarShares[] = {0.125, 0.25, 0.375, 0.5, 0.75, 1};  // of L3
constexpr size_t kMemories = 5;                                      // fresh ones for each share
constexpr int kRows = 6, kTiles = 64;  // so that all operands together are in a level beyond

Target WithAllUsable(Target target) {
  for (MemoryLevel& level : target.memory) level.usable = 1;
  return target;
}

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
  constexpr int64_t kColumns = 4096;
  return {Cat("matmul f32 1x", bytes / 4 / kColumns, "x", kColumns), ""};
}

// Measured over predicted: the median over memories, of which some are luckier than others.
absl::StatusOr<double> RatioOf(const Filler& filler, const Target& target, const ExperimentOptions& options) {
  Laboratory laboratory(target, 1);
  Experiment experiment = {filler.problem, 1};
  experiment.schedule = filler.schedule;
  const absl::StatusOr<PreparedExperiment> prepared = laboratory.Prepare(experiment);
  if (!prepared.ok()) return prepared.status();
  std::vector<double> ratios;
  while (ratios.size() < kMemories) {
    const absl::StatusOr<std::vector<Observation>> observed = Observe(*prepared, options);
    if (!observed.ok()) return observed.status();
    if (observed->empty()) return absl::CancelledError("stopped");
    ratios.push_back(observed->front().cycles / observed->front().predict(laboratory.model()));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[kMemories / 2];
}

}  // namespace

Usable UsableOf(const std::vector<Filling>& fillings) {
  for (size_t i = 1; i < fillings.size(); ++i)
    if (fillings[i].slowdown > kHurts) return {fillings[i - 1].share, fillings[i].share};
  return {fillings.back().share, fillings.back().share};
}

absl::StatusOr<std::vector<Filling>> MeasureFillings(Level level, const Target& target,
                                                     const ExperimentOptions& options) {
  const Target all_usable = WithAllUsable(target);
  std::vector<Filling> fillings;
  double least = 0;
  const auto measure = [&](double share) {
    const absl::StatusOr<double> ratio = RatioOf(FillerOf(level, share, target), all_usable, options);
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
