// SPDX-License-Identifier: Apache-2.0
// Holds a program that was measured, with a function that prices it by any cost model.
//
// The fit needs no more than this: it compares `cycles` with `predict` for ever other constants.
#ifndef KIRSCH_CALIBRATE_OBSERVATION_H_
#define KIRSCH_CALIBRATE_OBSERVATION_H_

#include <functional>
#include <string>

#include "cost/cost_model.h"
#include "spec/level.h"

namespace kirsch {

// One program of one problem.
struct Observation {
  std::string problem;  // as a user states it
  std::string group;    // of problems, see Experiment
  std::string schedule;
  std::string program;       // its code, as PrintProgram gives it; identifies it among those of the problem
  Level level = Level::kL1;  // where the operands are at first
  double cycles = 0;         // measured, of one call; Observe takes the first quartile of its samples
  double spread = 0;         // of the samples, interquartile range over median
  bool disturbed = false;    // disturbed samples had to be used, as there were hardly others
  double peak = 0;           // the most FMAs of 32 bytes a cycle that the core did meanwhile
  bool chosen = false;       // the model's choice among the problem's programs
  // How far from the optimum the program was predicted to be: log(predicted / optimum), 0 of the optimum. The
  // search never chooses what is far away, so the model need not know that as well.
  double distance = 0;
  // Returns predicted cycles of one call. The model's target must not differ from the one it was made for,
  // except in cost keys. Thread-safe.
  std::function<double(const CostModel& model)> predict;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_OBSERVATION_H_
