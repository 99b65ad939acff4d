// The subcommands of `kirsch db`.
#ifndef KIRSCH_TOOLS_DB_COMMAND_H_
#define KIRSCH_TOOLS_DB_COMMAND_H_

#include "tools/command.h"

namespace kirsch {

void AddDbPrecompute(CLI::App& db_command, const DbOptions& db, Run& run);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_DB_COMMAND_H_
