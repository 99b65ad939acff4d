// SPDX-License-Identifier: Apache-2.0
// --tune and --tuned: programs of a kernel that are timed on this machine, and what was found so. Nothing is
// timed and nothing measured is used unless asked for.
#ifndef KIRSCH_TOOLS_TUNING_H_
#define KIRSCH_TOOLS_TUNING_H_

#include "absl/status/status.h"
#include "memo/memo.h"
#include "synthesis/solve.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kirsch {

// --tune[=SECONDS] and --tuned.
void AddTuneOptions(CLI::App& command, SolveArguments& arguments);
// --tuned.
void AddTunedOption(CLI::App& command, SolveArguments& arguments);

// The tuner that these options ask for. Takes the place of the predicted best, in `synthesis`, if a program
// was measured to be faster: what the table knows of this machine, the target and version, or, if asked to
// tune, what is measured now and then kept there. Measured are the candidates of tuning_candidates.h, in
// rounds (bench/harness/trials.h). Errors: this CPU can't run the code; Internal: one computes a wrong
// result; Cancelled by Ctrl-C, what was measured of others before is kept.
class MeasuringTuner : public Tuner {
 public:
  absl::Status Check(const SolveArguments& arguments) const override;
  absl::Status Tune(const SolveArguments& arguments, const KernelMember& asked, bool cancelled,
                    Synthesis* synthesis) const override;
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_H_
