// SPDX-License-Identifier: Apache-2.0
#include "fidelity/fidelity.h"

#include <algorithm>
#include <utility>

#include "bench/results/statistics.h"
#include "memo/hash_memo.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// One run of MeasureCorpus.
class Measurement {
 public:
  Measurement(const CostModel& model, const FidelityOptions& options) : model_(model), options_(options) {
    corpus_.threads = options.draw.threads;
    corpus_.residency = options.draw.residency;
  }

  absl::StatusOr<Corpus> Run(const std::vector<BenchEntry>& entries) {
    absl::Status first;
    for (size_t i = 0; i < entries.size() && !stopped(); ++i) {
      place_ =
          Cat(i + 1, " of ", entries.size(), ", ", entries[i].text.substr(0, entries[i].text.find('\n')));
      const absl::Status measured = Measure(entries[i]);
      if (measured.ok()) continue;
      // A spec that fails does not end the run. Its reason is kept, and the first one in case all fail.
      first.Update(measured);
      corpus_.left_out.push_back({entries[i].text, std::string(measured.message())});
    }
    if (corpus_.specs.empty() && !first.ok()) return first;
    return std::move(corpus_);
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  void Progress(std::string_view what) const {
    if (options_.progress) options_.progress(Cat(place_, ": ", what));
  }

  absl::Status Measure(const BenchEntry& entry) {
    Progress("drawing programs");
    DrawOptions draw = options_.draw;
    draw.stop = options_.stop;
    // Each spec has a memo of its own, which is freed before the next one.
    HashMemo memo;
    KIRSCH_ASSIGN_OR_RETURN(Candidates candidates, DrawCandidates(entry, model_, memo, draw));
    Progress(Cat("measuring ", candidates.kernels.size(), " programs"));
    TrialOptions trial;
    trial.rounds = options_.rounds;
    trial.min_seconds = options_.min_seconds;
    trial.threads = draw.threads;
    trial.cold = draw.residency == Residency::kCold;
    // A graph's result is compared with plain loops; a matmul needs none.
    trial.loops = candidates.loops ? &*candidates.loops : nullptr;
    trial.stop = options_.stop;
    KIRSCH_ASSIGN_OR_RETURN(const Trials trials, RunTrials(candidates.workload, candidates.kernels, trial));
    Add(trials, std::move(candidates.spec));
    return absl::OkStatus();
  }

  // Joins predictions and measurements. Wrong results are reported and not timed; programs without samples
  // are left out, and so are specs of which no program is left.
  void Add(const Trials& trials, MeasuredSpec spec) {
    std::vector<MeasuredProgram> programs = std::move(spec.programs);
    // Programs that were measured go back to the spec, in their order.
    spec.programs.clear();
    for (size_t i = 0; i < programs.size() && i < trials.of.size(); ++i) {
      const Trial& trial = trials.of[i];
      if (!trial.correct) corpus_.wrong.push_back(Cat(spec.text, "\n", programs[i].schedule));
      if (!trial.correct || trial.seconds.empty()) continue;
      programs[i].cycles = trial.MedianCycles();
      programs[i].seconds = trial.MedianSeconds();
      programs[i].spread = trial.Spread();
      spec.programs.push_back(std::move(programs[i]));
    }
    // The clock is a median of all rounds. A spec without programs has no choice, so it is not in the corpus.
    if (!trials.ghz.empty()) spec.ghz = Median(trials.ghz);
    if (!spec.programs.empty()) corpus_.specs.push_back(std::move(spec));
  }

  const CostModel& model_;
  const FidelityOptions& options_;
  Corpus corpus_;
  std::string place_;  // in the list of specs, for progress
};

}  // namespace

absl::StatusOr<Corpus> MeasureCorpus(const std::vector<BenchEntry>& entries, const CostModel& model,
                                     const FidelityOptions& options) {
  return Measurement(model, options).Run(entries);
}

}  // namespace kirsch
