// kirsch: the command line. Exit codes: 0 done, 1 a verification failed or a table is damaged, 2 bad input.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "spec/cat.h"
#include "spec/text.h"
#include "tools/command.h"

namespace kirsch {
namespace {

int Refuse(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "kirsch: %s\n", message.c_str());
  return 2;
}

// One line on what is wrong with the arguments.
std::string Complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  if (app.get_subcommands().empty() && !rest.empty())
    return Cat("expected a command (synth, verify, bench, explain, target or db), got ",
               Quoted(rest.front()));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !rest.empty())
    return Cat("unexpected argument ", Quoted(rest.front()),
               rest.front().front() == '-' ? "" : " (a SPEC is one argument: quote it)");
  return error.what();
}

int Main(int argc, char** argv) {
  CLI::App app("Kirsch: synthesizes CPU tensor kernels from specs", "kirsch");
  app.set_version_flag("--version", "kirsch " KIRSCH_VERSION);
  DbOptions db;
  AddDbOptions(app, db);
  app.require_subcommand(1);
  app.fallthrough();  // options of the app may stand after the subcommand too
  Run run;
  AddSynthCommand(app, db, run);
  AddVerifyCommand(app, db, run);
  AddBenchCommand(app, db, run);
  AddExplainCommand(app, db, run);
  AddTargetCommand(app, run);
  AddDbCommand(app, db, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);  // --help
    return Refuse(Complaint(app, error) + " (see kirsch --help)");
  }
  absl::StatusOr<int> code = run();
  if (!code.ok()) return Refuse(std::string(code.status().message()));
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return Refuse("standard output can't be written");
  return *code;
}

}  // namespace
}  // namespace kirsch

int main(int argc, char** argv) { return kirsch::Main(argc, argv); }
