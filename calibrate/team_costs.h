// SPDX-License-Identifier: Apache-2.0
// What it takes to start a section of several threads, and to wait for each other in it.
#ifndef KIRSCH_CALIBRATE_TEAM_COSTS_H_
#define KIRSCH_CALIBRATE_TEAM_COSTS_H_

#include "absl/status/statusor.h"

namespace kirsch {

struct TeamCosts {
  double fork_join_cycles = 0, barrier_cycles = 0;
  double spread = 0;  // of the worse measured of the two
};

// Of two pinned threads of the bench's team, which find nothing to do. Errors are those of RunTrials.
absl::StatusOr<TeamCosts> MeasureTeamCosts(int rounds);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_TEAM_COSTS_H_
