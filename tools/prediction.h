// SPDX-License-Identifier: Apache-2.0
// Says what is predicted of a kernel in the words of its summary. Also says whether the prediction is for a
// clock that this machine does not have.
#ifndef KIRSCH_TOOLS_PREDICTION_H_
#define KIRSCH_TOOLS_PREDICTION_H_

#include <string>

#include "spec/program/program_tree.h"
#include "spec/target.h"
#include "synthesis/synthesis.h"

namespace kirsch {

struct Prediction {
  double cycles = 0;      // of a call
  double operations = 0;  // multiplications and additions
  bool integers = false;  // the operations are of integers
  // Operations a cycle, by all threads, that the target's units could do. 0: there is no peak to compare
  // with. The kernel has no contraction, or one by Winograd's algorithm, which carries out fewer operations
  // than are counted.
  double peak_per_cycle = 0;
};

Prediction MakePrediction(const Synthesis& synthesis);

// The prediction as text:
//   9197388 cycles, 2.534 ms at 3.63 GHz, 105.9 GFLOP/s predicted, 91 % of the modelled peak, not calibrated
//
// `machine_ghz` is the clock of this machine; 0: the target is another machine. It is said if it is a tenth
// below the target's clock, or if the prediction is above what it allows. Without it, the clock is measured
// if the target is "host".
std::string PredictionText(const Prediction& prediction, const Target& target, double machine_ghz);
std::string PredictionText(const Prediction& prediction, const Target& target);

// The clock that predictions are for: "3.63 GHz", or "3.63 GHz (this machine's clock is 2.9 GHz)".
std::string ModelText(const Target& target);

// ", not calibrated" if this command says so of the target (target_option.h); else empty.
std::string CalibrationText(const Target& target);

// "; weights of 1024 KiB are packed into 1126 KiB"; empty if none are packed. Users see what packing takes in
// memory.
std::string PackedText(const ProgramTree& program, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_PREDICTION_H_
