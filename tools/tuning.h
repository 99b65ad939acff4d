// SPDX-License-Identifier: Apache-2.0
// Times programs of a kernel on this machine (--tune), and uses what was measured before (--tuned). A
// measurement decides between programs that the model holds for about equally fast. Nothing is timed, and
// nothing measured is used, unless asked for.
#ifndef KIRSCH_TOOLS_TUNING_H_
#define KIRSCH_TOOLS_TUNING_H_

#include "absl/status/status.h"
#include "memo/memo.h"
#include "synthesis/solve.h"
#include "tools/options.h"

namespace kirsch {

// Adds --tune[=SECONDS] and --tuned, and the tuner that they ask for.
void AddTuneOptions(const Command& command, SolveArguments& arguments);
// Adds --tuned alone, for commands that don't measure: explain.
void AddTunedOption(const Command& command, SolveArguments& arguments);

// The tuner that these options ask for. It replaces the predicted best program if another one was measured to
// be faster. The table is asked for what was measured on this machine, for the target and version.
//
//              the table knows the kernel   the table does not
//   --tune     use what it knows            measure, keep the result in the table, and use it
//   --tuned    use what it knows            the predicted best
//   neither    the predicted best           the predicted best
//
// The candidates are those of tuning_candidates.h, timed in rounds (bench/harness/trials.h). Errors: this CPU
// can't run the code; Internal: a program computes a wrong result; Cancelled by Ctrl-C: what was measured of
// other kernels before is kept.
class MeasuringTuner : public Tuner {
 public:
  absl::Status Check(const SolveArguments& arguments) const override;
  absl::Status Tune(const SolveArguments& arguments, const KernelMember& asked, bool cancelled,
                    Synthesis* synthesis) const override;
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_H_
