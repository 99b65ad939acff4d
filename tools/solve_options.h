// SPDX-License-Identifier: Apache-2.0
// What the subcommands that solve something take: SPEC, --target, --threads, --db and the like.
#ifndef KIRSCH_TOOLS_SOLVE_OPTIONS_H_
#define KIRSCH_TOOLS_SOLVE_OPTIONS_H_

#include <string>
#include <vector>

#include "synthesis/database.h"
#include "synthesis/solve.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kirsch {

// SPEC and --target are for the command; how it is to be solved is the rest.
struct SolveOptions : SolveArguments {
  std::string spec;
  std::string target = "host";
};

void AddDbOptions(CLI::App& app, DbOptions& options);

// --cold; `cold` is empty without it.
void AddColdOption(CLI::App& command, std::string& cold);

// Adds SPEC, --target, --threads, --search-threads, --time-budget, --schedule and --cold. Returns SPEC, which
// is required. `db` lives as long as `arguments`.
CLI::Option* AddSolveOptions(CLI::App& command, const DbOptions& db, SolveOptions& arguments);

// The files that these options have read, tables included: for CheckOutputs.
std::vector<std::string> InputsOf(const SolveOptions& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SOLVE_OPTIONS_H_
