// SPDX-License-Identifier: Apache-2.0
#include "tools/solve_options.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "tools/console.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// Takes a positive number of seconds. CLI11's own check would spell out the largest double in its message.
std::string CheckSeconds(const std::string& text) {
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && seconds > 0) return "";
  return Cat("expected a number of seconds above 0, got ", Quoted(text));
}

// Prints a warning, but not the same one twice in a row: a graph asks for its table many times.
void WarnOnce(const std::string& warning) {
  static std::string last;
  if (warning != std::exchange(last, warning)) PrintRemark(Cat("warning: ", warning));
}

}  // namespace

void AddDbOptions(const Command& app, DbOptions& options) {
  options.warn = WarnOnce;
  options.pool = std::make_shared<TablePool>();
  app.BeginGroup(kSearchGroup);
  // --db names one table; --no-db says that there is none. Both at once make no sense.
  const Option path =
      app.Add("--db", options.path,
              "The table of solved specs: a file, or a directory with a file for each target and version "
              "(default: kirsch/ in the user's cache directory)");
  path.Check(NotEmpty("a file or a directory"));
  app.AddFlag("--no-db", options.none, "Neither read nor write a table of solved specs").Excludes(path);
  app.BeginGroup("Options");  // CLI11's own group, for --help of the app and of commands
}

void AddColdOption(const Command& command, std::string& cold) {
  command
      .AddFlag(Cat("--cold{", kAllCold, "}"), cold,
               "The operands come from RAM, not from the caches; --cold=rhs,out: these alone")
      .TakeLast();
}

Option AddSolveOptions(const Command& command, const DbOptions& db, SolveOptions& arguments) {
  arguments.db = &db;
  arguments.observer = &Console();
  // SPEC is positional. Commands that can read a file instead make it optional.
  const Option spec = command.Add("SPEC", arguments.spec, "E.g. 'matmul f32 64x64x64' (MxKxN)").Required();
  // What the kernel is for. It changes the program, and what the table is asked.
  command.BeginGroup(kTargetGroup);
  command.Add("--target", arguments.target, "A known target, host (the default), or a target file");
  // A spec keeps its number of threads in eight bits, so 255 are the most.
  command.Add("--threads", arguments.threads, "Threads the kernel is for").InRange(1, 255);
  AddColdOption(command, arguments.cold);
  // How the program is found. Only a schedule, a time budget, --no-fusion and --allow-winograd can change it.
  command.BeginGroup(kSearchGroup);
  // The default of --search-threads is all cores.
  arguments.search_threads = ReadHost().cores;
  command.Add("--search-threads", arguments.search_threads, "Threads that search; default: all cores")
      .InRange(1, 255);
  command.Add("--time-budget", arguments.time_budget, "Seconds after which the search returns its best")
      .Check(CheckSeconds, "SECONDS");
  command.AddFile("--schedule", arguments.schedule.source,
                  "Follow the schedule in this file instead of searching");
  // CLI11 sets a flag with "!" to false where it is given: `fuse` is true without it.
  command.AddFlag("!--no-fusion", arguments.fuse, "Of a graph, compute one operation after the other");
  command.AddFlag(
      "--allow-winograd", arguments.allow_winograd,
      "Let 3x3 convolutions of f32 be computed by Winograd's algorithm where that is faster: the results are "
      "less exact");
  command.AddToFooter(
      "SPEC is one argument, so quote it: 'matmul f32 64x64x64', 'softmax f32 32x1024'. kirsch help SPEC "
      "lists\n"
      "operations, types, options and examples.");
  return spec;
}

// Tables count as read even if they are only written: a result must not replace one.
std::vector<std::string> InputsOf(const SolveOptions& arguments) {
  std::vector<std::string> files = TargetFilesIn(arguments.target);
  for (std::string& table : ListTableFiles(*arguments.db)) files.push_back(std::move(table));
  files.push_back(arguments.schedule.source);
  return files;
}

}  // namespace kirsch
