// SPDX-License-Identifier: Apache-2.0
// Adds the options that all subcommands share which solve something: SPEC, --target, --threads, --db and the
// like. So they mean the same everywhere.
#ifndef KIRSCH_TOOLS_SOLVE_OPTIONS_H_
#define KIRSCH_TOOLS_SOLVE_OPTIONS_H_

#include <string>
#include <vector>

#include "synthesis/database.h"
#include "synthesis/solve.h"
#include "tools/options.h"

namespace kirsch {

// The options as values. SPEC and --target say what is made, and are for the command itself. The rest says
// how it is solved.
struct SolveOptions : SolveArguments {
  std::string spec;
  std::string target = "host";
};

// Adds --db and --no-db, which belong to the app. Warnings about tables become remarks, each once in a row.
void AddDbOptions(const Command& app, DbOptions& options);

// Adds --cold. `cold` is empty without it; see cold_operands.h.
void AddColdOption(const Command& command, std::string& cold);

// Adds SPEC, --target, --threads, --cold, --search-threads, --time-budget, --schedule, --no-fusion and
// --allow-winograd. Returns SPEC, which is required unless the caller says otherwise. `db` lives as long as
// `arguments`, and `arguments` as long as the command. The console becomes the observer.
Option AddSolveOptions(const Command& command, const DbOptions& db, SolveOptions& arguments);

// The files that these options read, tables included: none of them may be written over (CheckOutputs).
std::vector<std::string> InputsOf(const SolveOptions& arguments);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SOLVE_OPTIONS_H_
