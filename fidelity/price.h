// SPDX-License-Identifier: Apache-2.0
// Programs that were measured before, priced by another model.
#ifndef KIRSCH_FIDELITY_PRICE_H_
#define KIRSCH_FIDELITY_PRICE_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "fidelity/corpus.h"

namespace kirsch {

struct PriceOptions {
  std::function<bool()> stop = {};
  std::function<void(std::string_view)> progress = {};  // told what is being done, one line each
};

// The corpus (read_corpus.h), each program at what the model says of its schedule; nothing is measured, so
// that models may be compared on the same programs. A program that comes twice stays once, as it was measured
// first. What the model's target has no such program for is left out, with the reason. An error if there is
// no spec left. `options.stop` ends it with what there is.
absl::StatusOr<Corpus> PriceCorpus(const Corpus& measured, const CostModel& model,
                                   const PriceOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_PRICE_H_
