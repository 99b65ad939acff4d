// What a calibration measures: problems that together depend on every cost key.
#ifndef KIRSCH_CALIBRATE_SUITE_H_
#define KIRSCH_CALIBRATE_SUITE_H_

#include <vector>

#include "calibrate/experiment.h"
#include "spec/target/target.h"

namespace kirsch {

// Sizes follow the target's caches: problems live in L1, L2, L3 and RAM. `quick`: a quarter of them, with fewer
// programs of each.
std::vector<Experiment> CalibrationSuite(const Target& target, bool quick);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_SUITE_H_
