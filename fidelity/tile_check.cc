// SPDX-License-Identifier: Apache-2.0
#include "fidelity/tile_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bench/harness/trials.h"
#include "bench/workload/workload.h"
#include "codegen/llvm/analyser.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/verify/engines.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr char kTileName[] = "tile";
constexpr int64_t kShare = 4;  // the shorter reduction is this part of the longer one

// The register tile for people: "6x2 vectors of 8, fma".
std::string FormOf(const RegisterTile& tile) {
  const char* const form = tile.form == LayoutKind::kPartialSums ? " sums of "
                           : tile.form == LayoutKind::kTiles     ? " columns of tiles of "
                                                                 : " vectors of ";
  return Cat(tile.rows, "x", tile.columns, form, tile.lanes, ", ", tile.instruction().name);
}

// Counts instructions that multiply and add, by how their mnemonics begin: FMAs, dot products, products of
// tiles.
int MultiplyAdds(const LoopCode& loop) {
  int count = 0;
  for (const auto& [mnemonic, times] : loop.mnemonics)
    for (const std::string_view verb : {"vfmadd", "vpmadd", "vpdp", "vdp", "vpmulld", "tdp"})
      if (mnemonic.starts_with(verb)) count += times;
  return count;
}

// Returns the main loop: the innermost loop with the most multiply-adds.
absl::StatusOr<LoopCode> HotLoop(const Subject& subject) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string object, EmitObject(subject.code, subject.target));
  KIRSCH_ASSIGN_OR_RETURN(std::vector<LoopCode> loops, InnermostLoops(object));
  if (loops.empty()) return absl::InternalError("there is no loop in the code of a register tile");
  return *std::max_element(loops.begin(), loops.end(), [](const LoopCode& a, const LoopCode& b) {
    return MultiplyAdds(a) < MultiplyAdds(b);
  });
}

// Two reductions of the same register tile that differ by whole trips of the main loop. The difference of
// their times is that of the trips.
struct Pair {
  TileKernel longer, shorter;
  double trips = 0;  // of which the longer one has so many more
};

// A tile, ready to be measured.
struct Runnable {
  std::string spec;
  Kernel kernel;
  Workload workload;
};

absl::StatusOr<Runnable> MakeRunnable(const TileKernel& tile, const Target& target) {
  KIRSCH_ASSIGN_OR_RETURN(Kernel kernel, CompileForThisCpu(Subject(tile.impl, target, kTileName)));
  KIRSCH_ASSIGN_OR_RETURN(Workload workload, MakeWorkload(tile.parsed.spec, 1));
  return Runnable{tile.parsed.text, std::move(kernel), std::move(workload)};
}

// Shortens the reduction to a quarter, in whole trips. Nothing if the tile has no such shorter form.
std::optional<Pair> PairOf(const TileKernel& tile, const TileFacts& facts, const Target& target) {
  const int64_t longer = tile.parsed.spec.size[MatmulDims::kK];
  const int64_t shorter = longer / kShare / facts.steps * facts.steps;
  if (shorter == 0 || (longer - shorter) % facts.steps != 0) return std::nullopt;
  std::optional<TileKernel> other = WithSteps(tile, shorter, target);
  if (!other) return std::nullopt;
  return Pair{tile, *std::move(other), static_cast<double>((longer - shorter) / facts.steps)};
}

// Measures tiles one after the other. It knows the most that the core was seen to do, so it notices when
// somebody shared the core during a measurement.
class Stopwatch {
 public:
  Stopwatch(const Target& target, const TileCheckOptions& options) : target_(target), options_(options) {}

  // Returns the cycles of a trip. Noise only slows down, and may do so for as long as a process lives. So
  // fresh processes measure again until they are no faster, six at most.
  absl::StatusOr<double> CyclesOfTrip(const Pair& pair) {
    constexpr int kMostProcesses = 6;
    constexpr double kFaster = 0.995;
    // Both reductions are compiled once. Each is measured in a process of its own, one after the other.
    KIRSCH_ASSIGN_OR_RETURN(const Runnable whole, MakeRunnable(pair.longer, target_));
    KIRSCH_ASSIGN_OR_RETURN(const Runnable start, MakeRunnable(pair.shorter, target_));
    double longer = std::numeric_limits<double>::infinity(), shorter = longer;
    for (int process = 0; process < kMostProcesses; ++process) {
      KIRSCH_ASSIGN_OR_RETURN(const double all, MeasureCycles(whole));
      KIRSCH_ASSIGN_OR_RETURN(const double part, MeasureCycles(start));
      // Settled: this pair of processes was faster by less than half a per cent, if at all.
      const bool settled = all > kFaster * longer && part > kFaster * shorter;
      // The fastest of each counts, whichever process it was in.
      longer = std::min(longer, all);
      shorter = std::min(shorter, part);
      if (settled) break;
    }
    return (longer - shorter) / pair.trips;
  }

 private:
  // Returns the fewest cycles of one call that a sample had.
  absl::StatusOr<double> MeasureCycles(const Runnable& tile) {
    TrialOptions trial;
    trial.rounds = options_.rounds;
    trial.peak = peak_;
    trial.stop = options_.stop;
    KIRSCH_ASSIGN_OR_RETURN(const Trials trials, RunTrials(tile.workload, {tile.kernel}, trial));
    if (trials.of.empty() || trials.ghz.empty()) return absl::CancelledError("stopped");
    if (!trials.of[0].correct) return absl::InternalError(Cat("a wrong result of ", tile.spec));
    // The next trials compare the core with the most that it has done so far.
    peak_ = std::max(peak_, trials.best_peak);
    // The fastest clock of all rounds counts. Where the clock seems slow, something was in the way of
    // measuring it, and cycles by it would be too few.
    return 1e9 * *std::min_element(trials.of[0].seconds.begin(), trials.of[0].seconds.end()) *
           *std::max_element(trials.ghz.begin(), trials.ghz.end());
  }

  const Target& target_;
  const TileCheckOptions& options_;
  double peak_ = 0;
};

// Fills in everything but the measured cycles. The analyser may not know the CPU, which is no error.
absl::StatusOr<TileCheck> Check(const TileKernel& tile, const Target& target) {
  TileCheck check;
  check.spec = tile.parsed.text;
  check.facts = TileFactsOf(tile.microkernel, tile.expansion, target);
  check.form = FormOf(check.facts.tile);
  KIRSCH_ASSIGN_OR_RETURN(LoopCode loop, HotLoop(Subject(tile.impl, target, kTileName)));
  check.loop = std::move(loop);
  if (const absl::StatusOr<double> analysed = AnalysedCycles(check.loop, target); analysed.ok())
    check.analysed = *analysed;
  return check;
}

}  // namespace

double TileCheck::instructions_error() const {
  return std::abs(facts.instructions - loop.instructions) / loop.instructions;
}

absl::StatusOr<std::vector<TileCheck>> CheckTiles(const Target& target, const TileCheckOptions& options) {
  std::vector<TileCheck> checks;
  const std::vector<TileKernel> tiles = DrawTileKernels(target, options.kernels, options.seed);
  Stopwatch stopwatch(target, options);
  // Without the target's instructions this machine can only look at the code.
  const bool runs = options.measure && MissingOnHost(target.features).empty();
  for (const TileKernel& tile : tiles) {
    if (options.stop && options.stop()) break;
    if (options.progress)
      options.progress(Cat(checks.size() + 1, " of ", tiles.size(), ", ", tile.parsed.text));
    KIRSCH_ASSIGN_OR_RETURN(TileCheck check, Check(tile, target));
    const std::optional<Pair> pair = runs ? PairOf(tile, check.facts, target) : std::nullopt;
    if (pair) {
      const absl::StatusOr<double> measured = stopwatch.CyclesOfTrip(*pair);
      // Stopped in the middle of a tile: that one is dropped, the others are returned.
      if (absl::IsCancelled(measured.status())) break;
      if (!measured.ok()) return measured.status();
      check.measured = *measured;
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace kirsch
