// SPDX-License-Identifier: Apache-2.0
// The subcommands of the command line. Each adds itself to the app and leaves in `run` what is to be done
// when it is the one chosen: the exit code, or an error that is printed on one line (exit code 2). `db`
// lives as long as `run`.
#ifndef KIRSCH_TOOLS_COMMAND_H_
#define KIRSCH_TOOLS_COMMAND_H_

#include <functional>

#include "absl/status/statusor.h"
#include "synthesis/database.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kirsch {

// kirsch: the command line. Exit codes: 0 done, 1 a verification failed or a table is damaged, 2 bad input, 3
// a kernel was written that nothing has run.
int RunCommandLine(int argc, char** argv);

using Run = std::function<absl::StatusOr<int>()>;

void AddSynthCommand(CLI::App& app, const DbOptions& db, Run& run);
void AddVerifyCommand(CLI::App& app, const DbOptions& db, Run& run);
void AddBenchCommand(CLI::App& app, const DbOptions& db, Run& run);
void AddFidelityCommand(CLI::App& app, Run& run);
void AddExplainCommand(CLI::App& app, const DbOptions& db, Run& run);
void AddTargetCommand(CLI::App& app, Run& run);
void AddCalibrateCommand(CLI::App& target_command, Run& run);  // kirsch target calibrate
void AddHelpCommand(CLI::App& app, Run& run);
void AddDbCommand(CLI::App& app, const DbOptions& db, Run& run);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_COMMAND_H_
