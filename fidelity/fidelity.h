// SPDX-License-Identifier: Apache-2.0
// Measures drawn programs of many specs beside their predictions: the order of events of `kirsch fidelity`.
//
//   for each entry: DrawCandidates --> kernels --RunTrials--> cycles, seconds --> a MeasuredSpec of the
//   corpus
//
// The figures are computed from the corpus later (corpus.h), so a corpus can be kept and priced by another
// model.
#ifndef KIRSCH_FIDELITY_FIDELITY_H_
#define KIRSCH_FIDELITY_FIDELITY_H_

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/harness/trials.h"
#include "bench/workload/entries.h"
#include "cost/cost_model.h"
#include "fidelity/candidates.h"
#include "fidelity/corpus.h"

namespace kirsch {

// How programs are drawn and timed.
struct FidelityOptions {
  DrawOptions draw;
  int rounds = 5;             // see TrialOptions
  double min_seconds = 2e-3;  // of a sample
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};  // told what is being done, one line each
};

// Draws programs of one spec after the other, compiles them, checks each result, and measures them in rounds
// (trials.h). A spec that can't be measured is part of the corpus, with the reason; if none can, the first
// reason is an error. `options.stop` ends it with what there is. Forks: the caller's process must not have an
// OpenMP runtime loaded.
absl::StatusOr<Corpus> MeasureCorpus(const std::vector<BenchEntry>& entries, const CostModel& model,
                                     const FidelityOptions& options);

// The text of bench/suites/fidelity.json, as part of the library: specs of all kinds, with operands in every
// level.
const char* UsualSuite();

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_FIDELITY_H_
