// SPDX-License-Identifier: Apache-2.0
// What is predicted of a kernel, as its summary says it.
#ifndef KIRSCH_TOOLS_PREDICTION_H_
#define KIRSCH_TOOLS_PREDICTION_H_

#include <string>

#include "spec/program/program_tree.h"
#include "spec/target.h"
#include "synthesis/synthesis.h"

namespace kirsch {

struct Prediction {
  double cycles = 0;
  double operations = 0;  // multiplications and additions
  bool integers = false;  // that they are of
  // Operations, by all threads. 0: the kernel has no contraction, or one by Winograd's algorithm, which
  // carries out fewer operations than are counted.
  double peak_per_cycle = 0;
};

Prediction MakePrediction(const Synthesis& synthesis);

// "9197388 cycles, 2.534 ms at 3.63 GHz, 105.9 GFLOP/s predicted, 91 % of the modelled peak, not calibrated".
// `machine_ghz`: the clock of this machine, which is said if it is a tenth below the target's, or if its peak
// is below what is predicted. 0: the target is of another machine. The default measures it for "host".
std::string PredictionText(const Prediction& prediction, const Target& target, double machine_ghz);
std::string PredictionText(const Prediction& prediction, const Target& target);

// "3.63 GHz", "3.63 GHz (this machine's clock is 2.9 GHz)".
std::string ModelText(const Target& target);

// ", not calibrated" as long as it is to be said (target_option.h).
std::string CalibrationText(const Target& target);

// "; weights of 1.0 MiB are packed into 1.1 MiB"; nothing if none are.
std::string PackedText(const ProgramTree& program, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_PREDICTION_H_
