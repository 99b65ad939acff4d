#include "tools/db_command.h"

namespace kirsch {

void AddDbCommand(CLI::App& app, const DbOptions& db, Run& run) {
  CLI::App* command = app.add_subcommand("db", "The table of solved specs");
  command->require_subcommand(1);
  command->fallthrough();
  AddDbPrecompute(*command, db, run);
}

}  // namespace kirsch
