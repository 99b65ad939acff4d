// SPDX-License-Identifier: Apache-2.0
// Measures what threads cost: the start of a section of several threads, and the barriers in it.
//
// The cost model adds these to a program for several threads: fork_join_cycles once, barrier_cycles between
// two phases.
#ifndef KIRSCH_CALIBRATE_TEAM_COSTS_H_
#define KIRSCH_CALIBRATE_TEAM_COSTS_H_

#include "absl/status/statusor.h"

namespace kirsch {

// Cycles of two threads, as the keys of a target have them.
struct TeamCosts {
  double fork_join_cycles = 0, barrier_cycles = 0;
  double spread = 0;  // of the worse measured of the two
};

// Times two pinned threads of the bench's team that find nothing to do. The difference between many phases
// and one is what barriers take. Errors are those of RunTrials.
absl::StatusOr<TeamCosts> MeasureTeamCosts(int rounds);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_TEAM_COSTS_H_
