// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of the command line. An Add function puts a subcommand's options into the app. If
// the user chooses that subcommand, parsing sets `run` to what is to be done; nothing else happens while
// options are read.
//
// `run` returns the exit code, or an error, which is printed on one line (exit code 2). `db` lives as long as
// `run`.
#ifndef KIRSCH_TOOLS_COMMAND_H_
#define KIRSCH_TOOLS_COMMAND_H_

#include <functional>

#include "absl/status/statusor.h"
#include "synthesis/database.h"
#include "tools/options.h"

namespace kirsch {

// Reads the arguments, and runs one command. Returns the exit code of the process: 0 done; 1 a verification
// failed, or a table is damaged; 2 bad input; 3 a kernel was written, but nothing of it has run, or bench
// found one slower than --baseline has it.
int RunCommandLine(int argc, char** argv);

// The work of the command that was chosen; called once, after all options have been read.
using Run = std::function<absl::StatusOr<int>()>;

void AddSynthCommand(const Command& app, const DbOptions& db, Run& run);
void AddVerifyCommand(const Command& app, const DbOptions& db, Run& run);
void AddBenchCommand(const Command& app, const DbOptions& db, Run& run);
void AddFidelityCommand(const Command& app, Run& run);
void AddExplainCommand(const Command& app, const DbOptions& db, Run& run);
void AddQueryCommand(const Command& app, const DbOptions& db, Run& run);
void AddImportCommand(const Command& app, Run& run);
void AddTargetCommand(const Command& app, Run& run);
void AddCalibrateCommand(const Command& target_command, Run& run);  // kirsch target calibrate
void AddHelpCommand(const Command& app, Run& run);
void AddDbCommand(const Command& app, const DbOptions& db, Run& run);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_COMMAND_H_
