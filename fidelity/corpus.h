// SPDX-License-Identifier: Apache-2.0
// Holds programs as predicted and as measured. Fidelity is computed from it, and models are fitted to it.
//
// Read in this order: a Corpus has specs, a spec has programs, a program has predicted and measured cycles.
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

// One program. `schedule` is enough to make it again.
struct MeasuredProgram {
  std::string schedule;
  Terms terms;  // of `predicted`
  Facts facts;
  double predicted = 0;  // cycles of one call
  double cycles = 0;     // measured, the median of one call; 0: not measured
  double seconds = 0;    // the same in seconds
  double spread = 0;     // of the measured cycles: interquartile range over median
};

// A spec with its programs. The first one is the choice of the search that drew them.
struct MeasuredSpec {
  std::string text;
  Level level = Level::kRam;  // where the operands are at first
  std::string operation;      // "matmul f32", "softmax f32"; "kernel" of those in the kernel language
  double ghz = 0;             // the clock, the median of the rounds
  std::vector<MeasuredProgram> programs;

  bool IsF32Matmul() const { return operation == "matmul f32"; }
  // Cycles, predicted and measured, in the order of the programs; the noise is the spread.
  Predictions predictions() const;
};

// A spec that was asked for and could not be measured, or a program that has no price, and why.
struct LeftOut {
  std::string text, reason;
};

// All that was measured with one number of threads, either cold or warm.
struct Corpus {
  int threads = 1;
  Residency residency = Residency::kWarm;
  std::vector<MeasuredSpec> specs;  // with one program at least
  std::vector<LeftOut> left_out;
  std::vector<std::string> wrong;  // programs whose results were wrong: spec and schedule
};

// The figures of README.md over some specs. Specs count alike, except in tile_ape.
struct Summary {
  size_t specs = 0;
  std::optional<double> kendall_tau;  // the mean over the specs that have one
  double tile_ape = 0;
  double within_first_1 = 0, within_first_5 = 0, within_first_10 = 0;
  double mape = 0;      // of the programs that the model chooses
  double mape_all = 0;  // of all programs, the mean over specs
};

Summary Summarise(const std::vector<MeasuredSpec>& specs);

// The share of the best measured speed that the model's choices reach, over specs of one operation.
struct ChoiceShares {
  std::string operation;
  size_t specs = 0;
  double mean = 0, worst = 0;  // shares of 1
  std::string worst_spec = {};
};

// Returns a row for each operation, sorted by name, and last a row "all" for all specs. Empty without specs.
std::vector<ChoiceShares> SharesByOperation(const std::vector<MeasuredSpec>& specs);

// The specs that a model is tested on if it was fitted to the others. A model that was fitted elsewhere is
// tested on the same ones, so that figures can be compared.
//
//   6 specs, of which 4 are matmuls of f32: random has 3 of them, by chance; dissimilar has the 2 others
struct Splits {
  std::vector<MeasuredSpec> random;      // half of the specs, the larger half, drawn by a seed
  std::vector<MeasuredSpec> dissimilar;  // all but the matmuls of f32
};

Splits SplitSpecs(const std::vector<MeasuredSpec>& specs, uint64_t seed);

// Writes a corpus as {"threads", "cold", "choices": [...], "splits": {"random": {...}, "dissimilar": {...}},
// "specs": [...]}, see docs/json/. read_corpus.h reads back what was measured.
nlohmann::ordered_json ToJson(const Corpus& corpus, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CORPUS_H_
