// SPDX-License-Identifier: Apache-2.0
// Prices programs that were measured before with another model, so that models can be compared on the same
// measurements.
#ifndef KIRSCH_FIDELITY_PRICE_H_
#define KIRSCH_FIDELITY_PRICE_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "fidelity/corpus.h"

namespace kirsch {

// Callbacks for long runs.
struct PriceOptions {
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};  // told what is being done, one line each
};

// Returns the corpus (read_corpus.h) with each program at what the model says of its schedule. Nothing is
// measured. A program that comes twice stays once, with its first measurement. Programs that the model's
// target does not have are left out, with the reason. An error if no spec is left. `options.stop` ends it
// with what there is.
absl::StatusOr<Corpus> PriceCorpus(const Corpus& measured, const CostModel& model,
                                   const PriceOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_PRICE_H_
