// SPDX-License-Identifier: Apache-2.0
// What a calibration measures: problems that together depend on every cost key.
#ifndef KIRSCH_CALIBRATE_SUITE_H_
#define KIRSCH_CALIBRATE_SUITE_H_

#include <vector>

#include "calibrate/experiment.h"
#include "spec/target.h"

namespace kirsch {

// Sizes follow the target's caches: problems live in L1, L2, L3 and RAM. A fifth of those whose programs are
// drawn is held out of the fit (Experiment::held_out). `quick`: a quarter of all, with fewer programs of
// each.
std::vector<Experiment> CalibrationSuite(const Target& target, bool quick);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_SUITE_H_
