// SPDX-License-Identifier: Apache-2.0
// Programs as predicted and as measured: what fidelity is computed from, and what models are fitted to.
#ifndef KIRSCH_FIDELITY_CORPUS_H_
#define KIRSCH_FIDELITY_CORPUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fidelity/agreement.h"
#include "fidelity/facts.h"
#include "fidelity/terms.h"
#include "nlohmann/json_fwd.hpp"
#include "search/solver/search.h"
#include "spec/level.h"

namespace kirsch {

struct MeasuredProgram {
  std::string schedule;
  Terms terms;  // of `predicted`
  Facts facts;
  double predicted = 0;  // cycles
  double cycles = 0;     // measured, the median; 0: not measured
  double seconds = 0;    // likewise
  double spread = 0;     // interquartile range over median
};

struct MeasuredSpec {
  std::string text;
  Level level = Level::kRam;  // where the operands wait
  std::string operation;      // "matmul f32", "softmax f32"; "kernel" of those in the kernel language
  double ghz = 0;             // the clock, the median of the rounds
  std::vector<MeasuredProgram> programs;

  bool IsF32Matmul() const { return operation == "matmul f32"; }
  Predictions predictions() const;
};

// A spec that was asked for and not measured, or a program that has no price.
struct LeftOut {
  std::string text, reason;
};

struct Corpus {
  int threads = 1;
  Residency residency = Residency::kWarm;
  std::vector<MeasuredSpec> specs;  // with one program at least
  std::vector<LeftOut> left_out;
  std::vector<std::string> wrong;  // programs whose results were wrong: spec and schedule
};

// Over some specs.
struct Summary {
  size_t specs = 0;
  std::optional<double> kendall_tau;  // the mean over the specs that have one
  double tile_ape = 0;
  double within_first_1 = 0, within_first_5 = 0, within_first_10 = 0;
  double mape = 0;      // of the programs that the model chooses
  double mape_all = 0;  // of all programs, the mean over specs
};

Summary Summarise(const std::vector<MeasuredSpec>& specs);

// What the model's choices reach of the best that was measured, over specs of one operation.
struct ChoiceShares {
  std::string operation;
  size_t specs = 0;
  double mean = 0, worst = 0;  // shares of 1
  std::string worst_spec = {};
};

// By operation, and last those of all specs, called "all".
std::vector<ChoiceShares> SharesByOperation(const std::vector<MeasuredSpec>& specs);

// The specs that a model is tested on which was fitted to the others. A model that has been fitted elsewhere
// is tested on the same ones.
struct Splits {
  std::vector<MeasuredSpec> random;      // half of the specs, drawn by a seed, the larger half
  std::vector<MeasuredSpec> dissimilar;  // all but the matmuls of f32
};

Splits SplitSpecs(const std::vector<MeasuredSpec>& specs, uint64_t seed);

// {"threads", "cold", "choices": [...], "splits": {"random": {...}, "dissimilar": {...}}, "specs": [...]},
// see docs/json/.
nlohmann::ordered_json ToJson(const Corpus& corpus, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CORPUS_H_
