// SPDX-License-Identifier: Apache-2.0
// Lists what a calibration measures: problems that together depend on every cost key.
//
// Sizes follow the target's caches, so that there are problems in L1, L2, L3 and RAM on any machine. The list
// depends on the target alone; what is drawn, is drawn with a fixed seed.
#ifndef KIRSCH_CALIBRATE_SUITE_H_
#define KIRSCH_CALIBRATE_SUITE_H_

#include <vector>

#include "calibrate/experiment.h"
#include "spec/target.h"

namespace kirsch {

// Returns the suite for a target. Of every five problems whose programs are drawn, one is held out of the fit
// (Experiment::held_out). `quick`: a quarter of all experiments, with half the programs of each, but two at
// least.
std::vector<Experiment> CalibrationSuite(const Target& target, bool quick);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_SUITE_H_
