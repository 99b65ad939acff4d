// --tune and --tuned: programs of a spec that are timed on this machine, and what was found so. Nothing is
// timed and nothing measured is used unless asked for.
#ifndef KIRSCH_TOOLS_TUNING_H_
#define KIRSCH_TOOLS_TUNING_H_

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "tools/solve.h"

namespace kirsch {

// --tune[=SECONDS] and --tuned.
void AddTuneOptions(CLI::App& command, SolveArguments& arguments);
// --tuned.
void AddTunedOption(CLI::App& command, SolveArguments& arguments);

// Do the options go together, and with a graph's or a spec's problem? InvalidArgument, one line.
absl::Status CheckTuning(const SolveArguments& arguments, bool graph);

// Takes the place of the predicted best, in `synthesis`, if a program was measured to be faster: what the
// table knows of this machine, the target and version, or, if asked to tune, what is measured now and then
// kept there. Measured are the cheapest programs and the best of each outer choice (search/outer_choices.h),
// in rounds (bench/trials.h). Errors: this CPU can't run the code; Cancelled by Ctrl-C, what was measured of
// others before is kept.
absl::Status Tune(const SolveArguments& arguments, Synthesis* synthesis);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TUNING_H_
