// SPDX-License-Identifier: Apache-2.0
#include "tools/solve_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "tools/console.h"
#include "tools/option_checks.h"
#include "tools/option_groups.h"
#include "tools/output.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// Takes a positive number of seconds. CLI11's own check would spell out the largest double in its message.
const CLI::Validator kSeconds(
    [](std::string& text) {
      double seconds = 0;
      return absl::SimpleAtod(text, &seconds) && seconds > 0
                 ? std::string()
                 : Cat("expected a number of seconds above 0, got ", Quoted(text));
    },
    "SECONDS");

// Prints a warning, but not the same one twice in a row: a graph asks for its table many times.
void WarnOnce(const std::string& warning) {
  static std::string last;
  if (warning != std::exchange(last, warning)) PrintRemark(Cat("warning: ", warning));
}

}  // namespace

void AddDbOptions(CLI::App& app, DbOptions& options) {
  options.warn = WarnOnce;
  BeginGroup(app, kSearchGroup);
  // --db names one table; --no-db says that there is none. Both at once make no sense.
  auto* const path = app.add_option(
      "--db", options.path,
      "The table of solved specs: a file, or a directory with a file for each target and version "
      "(default: kirsch/ in the user's cache directory)");
  path->check(NotEmpty("a file or a directory"));
  app.add_flag("--no-db", options.none, "Neither read nor write a table of solved specs")->excludes(path);
  BeginGroup(app, "Options");  // CLI11's own group, for --help of the app and of commands
}

void AddColdOption(CLI::App& command, std::string& cold) {
  command
      .add_flag(Cat("--cold{", kAllCold, "}"), cold,
                "The operands come from RAM, not from the caches; --cold=rhs,out: these alone")
      ->take_last();
}

CLI::Option* AddSolveOptions(CLI::App& command, const DbOptions& db, SolveOptions& arguments) {
  arguments.db = &db;
  arguments.observer = &Console();
  // SPEC is positional. Commands that can read a file instead make it optional.
  CLI::Option* spec =
      command.add_option("SPEC", arguments.spec, "E.g. 'matmul f32 64x64x64' (MxKxN)")->required();
  // What the kernel is for. It changes the program, and what the table is asked.
  BeginGroup(command, kTargetGroup);
  command.add_option("--target", arguments.target, "A known target, host (the default), or a target file");
  // A spec keeps its number of threads in eight bits, so 255 are the most.
  command.add_option("--threads", arguments.threads, "Threads the kernel is for")->check(CLI::Range(1, 255));
  AddColdOption(command, arguments.cold);
  // How the program is found. Only a schedule, a time budget, --no-fusion and --allow-winograd can change it.
  BeginGroup(command, kSearchGroup);
  // The default of --search-threads is all cores.
  arguments.search_threads = ReadHost().cores;
  command.add_option("--search-threads", arguments.search_threads, "Threads that search; default: all cores")
      ->check(CLI::Range(1, 255));
  command
      .add_option("--time-budget", arguments.time_budget, "Seconds after which the search returns its best")
      ->check(kSeconds);
  command
      .add_option("--schedule", arguments.schedule, "Follow the schedule in this file instead of searching")
      ->check(NotEmpty("a file"));
  // CLI11 sets a flag with "!" to false where it is given: `fuse` is true without it.
  command.add_flag("!--no-fusion", arguments.fuse, "Of a graph, compute one operation after the other");
  command.add_flag(
      "--allow-winograd", arguments.allow_winograd,
      "Let 3x3 convolutions of f32 be computed by Winograd's algorithm where that is faster: the results are "
      "less exact");
  command.footer(
      "SPEC is one argument, so quote it: 'matmul f32 64x64x64', 'softmax f32 32x1024'. kirsch help SPEC "
      "lists\n"
      "operations, types, options and examples.");
  return spec;
}

// Tables count as read even if they are only written: a result must not replace one.
std::vector<std::string> InputsOf(const SolveOptions& arguments) {
  std::vector<std::string> files = TargetFilesIn(arguments.target);
  for (std::string& table : ListTableFiles(*arguments.db)) files.push_back(std::move(table));
  files.push_back(arguments.schedule);
  return files;
}

}  // namespace kirsch
