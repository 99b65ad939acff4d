// SPDX-License-Identifier: Apache-2.0
#include "calibrate/team_costs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bench/harness/trials.h"
#include "spec/check.h"
#include "spec/language/parser.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Between 33 phases there are 32 barriers.
constexpr int kPhases = 33;

// A kernel that computes nothing, in so many phases.
Kernel Idle(int phases) {
  Kernel kernel;
  kernel.name = "idle";
  kernel.phases = phases;
  kernel.run = [](const KernelCall&) {};
  return kernel;
}

}  // namespace

// RunTrials wants a problem. It is of no account, as nothing is computed; the wrong results are ignored.
absl::StatusOr<TeamCosts> MeasureTeamCosts(int rounds) {
  const absl::StatusOr<ParsedSpec> problem = ParseSpec("matmul f32 1x1x1");
  KIRSCH_CHECK(problem.ok());
  KIRSCH_ASSIGN_OR_RETURN(Workload workload, MakeWorkload(problem->spec, 2));
  TrialOptions options;
  options.rounds = rounds;
  options.threads = 2;
  KIRSCH_ASSIGN_OR_RETURN(const Trials trials,
                          RunTrials(std::move(workload), {Idle(1), Idle(kPhases)}, options));
  const double one = trials.of[0].MedianCycles(), many = trials.of[1].MedianCycles();
  return TeamCosts{one, std::max(0.0, many - one) / (kPhases - 1),
                   std::max(trials.of[0].Spread(), trials.of[1].Spread())};
}

}  // namespace kirsch
