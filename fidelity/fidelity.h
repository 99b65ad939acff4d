// SPDX-License-Identifier: Apache-2.0
// Drawn programs of many specs, predicted and measured.
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

struct FidelityOptions {
  DrawOptions draw;
  int rounds = 5;
  double min_seconds = 2e-3;  // of a sample
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};  // told what is being done, one line each
};

// Spec by spec: draws, compiles, checks each result, measures in rounds (trials.h). What can't be measured is
// part of the corpus; if nothing can, the first reason is an error. `options.stop` ends it with what there
// is. Forks: the caller's process must not have an OpenMP runtime loaded.
absl::StatusOr<Corpus> MeasureCorpus(const std::vector<BenchEntry>& entries, const CostModel& model,
                                     const FidelityOptions& options);

// bench/suites/fidelity.json, as part of the library: specs of all kinds, with operands in every level.
const char* UsualSuite();

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_FIDELITY_H_
