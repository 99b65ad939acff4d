// SPDX-License-Identifier: Apache-2.0
// A program that was measured, and what a cost model says of it.
#ifndef KIRSCH_CALIBRATE_OBSERVATION_H_
#define KIRSCH_CALIBRATE_OBSERVATION_H_

#include <functional>
#include <string>

#include "cost/cost_model.h"
#include "spec/level.h"

namespace kirsch {

struct Observation {
  std::string problem;  // as a user states it
  std::string group;    // of problems, see Experiment
  std::string schedule;
  std::string program;       // its code, as PrintProgram gives it: what tells it from others of the problem
  Level level = Level::kL1;  // where the operands wait
  double cycles = 0;         // measured: median
  double spread = 0;         // of the samples, interquartile range over median
  bool disturbed = false;    // what else there was of samples was worse
  double peak = 0;           // FMAs of 32 bytes a cycle that the core did at best meanwhile
  bool chosen = false;       // by the model, of the problem's programs
  // How far from the optimum the program was predicted to be, log(predicted / optimum): what the search would
  // never choose, the model need not know as well.
  double distance = 0;
  // Cycles for a model whose target differs from the one it was made for in nothing but cost keys.
  // Thread-safe.
  std::function<double(const CostModel& model)> predict;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_OBSERVATION_H_
