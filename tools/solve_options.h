// What the subcommands that solve something take: SPEC, --target, --threads, --db and the like.
#ifndef KIRSCH_TOOLS_SOLVE_OPTIONS_H_
#define KIRSCH_TOOLS_SOLVE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/database.h"
#include "tools/solve.h"

namespace kirsch {

void AddDbOptions(CLI::App& app, DbOptions& options);

// --cold; `cold` is empty without it.
void AddColdOption(CLI::App& command, std::string& cold);

// Adds SPEC, --target, --threads, --search-threads, --time-budget, --schedule and --cold. Returns SPEC, which
// is required. `db` lives as long as `arguments`.
CLI::Option* AddSolveOptions(CLI::App& command, const DbOptions& db, SolveArguments& arguments);

// The files that these options have read, tables included: for CheckOutputs.
std::vector<std::string> InputsOf(const SolveArguments& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SOLVE_OPTIONS_H_
