// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/solve_options.h"

namespace kirsch {
namespace {

// The exit code of bad input.
constexpr int kRefused = 2;

// Prints an error on one line, whatever is in it: scripts read errors by lines.
int Refuse(std::string message) {
  std::ranges::replace(message, '\n', ' ');
  PrintRemark(message);
  return kRefused;
}

// Ends the process when memory runs out. It may run on any thread, so it only uses calls that need no memory.
// No file is left half written, as files appear as a whole only.
void EndWithoutMemory() {
  constexpr std::string_view kMessage = "kirsch: there is not enough memory\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(kRefused);
}

// The names of the commands directly below `app`.
std::vector<std::string> NamesOfCommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// "list, show, detect or calibrate".
std::string CommandsOf(const CLI::App& app) {
  std::vector<std::string> names = NamesOfCommands(app);
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : Cat(Join(names, ", "), " or ", last);
}

// The names of options that `command`, or one above it, takes.
std::vector<std::string> OptionsOf(const CLI::App* command) {
  std::vector<std::string> names;
  // Options without a group are old names, which are read but not suggested.
  for (; command != nullptr; command = command->get_parent())
    for (const CLI::Option* option : command->get_options())
      if (!option->get_group().empty())
        for (const std::string& name : option->get_lnames()) names.push_back(Cat("--", name));
  return names;
}

// Explains an argument that is neither an option nor expected. Often it is a part of a SPEC that was not
// quoted, or a typo.
//   unexpected argument '--jsn'; did you mean '--json'?
//   unexpected argument '64x64x64' (a SPEC is one argument: quote it)
std::string UnexpectedArgument(const std::string& argument, const CLI::App& command) {
  const bool option = absl::StartsWith(argument, "-");
  return Cat("unexpected argument ", Quoted(argument), option ? "" : " (a SPEC is one argument: quote it)",
             option ? DidYouMean(argument.substr(0, argument.find('=')), OptionsOf(&command)) : "");
}

// One line on what is wrong with the arguments. CLI11's own message is used where nothing better is known.
//   expected a command (stats, check, export, merge or precompute), got 'stat'; did you mean 'stats'?
std::string Complaint(const CLI::App& app, const CLI::ParseError& error) {
  // What CLI11 could not use, of all subcommands.
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  const std::string first = rest.empty() ? "" : rest.front();
  const CLI::App* last = &app;  // command that was given
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      !last->get_subcommands({}).empty())
    return Cat("expected a command (", CommandsOf(*last), "), got ", Quoted(first),
               DidYouMean(first, NamesOfCommands(*last)));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !rest.empty())
    return UnexpectedArgument(first, *last);
  return error.what();
}

// Returns `code` if all of the output could be written. A full disk shows only when the buffers are written
// out, so both kinds of stream are flushed here.
int Finish(int code) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  PrintRemarksAtEnd();
  if (!flushed || std::ferror(stdout) != 0) return Refuse("standard output can't be written");
  return code;
}

}  // namespace

// 1. Describe all options to CLI11. 2. Parse, which sets `run`. 3. Run the command. 4. Turn its answer into
// an exit code.
int RunCommandLine(int argc, char** argv) {
  std::set_new_handler(EndWithoutMemory);
  signal(SIGXFSZ, SIG_IGN);  // a file that gets too large is an error of what writes it
  CLI::App app("Kirsch: synthesizes CPU tensor kernels from specs", "kirsch");
  app.set_version_flag("--version", "kirsch " KIRSCH_VERSION);
  // Options of the app itself, which all commands share.
  DbOptions db;
  const Command root(app);
  AddDbOptions(root, db);
  app.require_subcommand(1);
  app.fallthrough();  // options of the app may stand after the subcommand too
  // `run` stays empty until parsing has chosen a command.
  Run run;
  // --help lists commands in this order.
  AddSynthCommand(root, db, run);
  AddVerifyCommand(root, db, run);
  AddBenchCommand(root, db, run);
  AddExplainCommand(root, db, run);
  AddQueryCommand(root, db, run);
  AddImportCommand(root, run);
  AddFidelityCommand(root, run);
  AddTargetCommand(root, run);
  AddDbCommand(root, db, run);
  AddHelpCommand(root, run);
  // CLI11 reports both errors and --help by an exception.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return Finish(app.exit(error));  // --help
    return Refuse(Complaint(app, error) + " (see kirsch --help)");
  }
  // Errors of a command are values, from here down.
  absl::StatusOr<int> code = run();
  if (!code.ok()) return Refuse(std::string(code.status().message()));
  return Finish(*code);
}

}  // namespace kirsch
