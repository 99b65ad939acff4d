// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/compilation.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

extern char** environ;

namespace kirsch {
namespace {

namespace fs = std::filesystem;

constexpr int kNewestVersion = 99;  // of a compiler; the search for versioned names begins here

absl::StatusOr<std::string> MakeDirectory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (error ? fs::path("/tmp") : parent) / "kirsch-verify-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    return absl::UnavailableError(
        Cat("cannot make a temporary directory like ", name, ": ", strerror(errno)));
  return name;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(Cat("cannot write ", path));
}

// Starts the command in `directory`. Its output goes to the file "log" there, so that complaints can be
// quoted. The environment is the caller's but for LC_ALL: error messages must be in English to be found, with
// no quotes beyond ASCII.
absl::StatusOr<pid_t> Spawn(std::vector<std::string> command, const std::string& directory) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::string plain = "LC_ALL=C";  // no quotes beyond ASCII in messages
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (strncmp(*variable, "LC_ALL=", 7) != 0) environment.push_back(*variable);
  environment.push_back(plain.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = -1;
  const int error =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return absl::UnavailableError(Cat("cannot run ", command[0], ": ", strerror(error)));
  return child;
}

// The exit status of a self-test on a machine that lacks what it takes (codegen/header/self_test.cc).
constexpr int kUnable = 2;

// Waits for the process and returns its exit status; -1 if it had none. A signal to this process may
// interrupt the wait.
int ExitStatusOf(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Returns the first line of the log that names an error, else the first line.
std::string FirstComplaint(const std::string& log_path) {
  std::stringstream text;
  text << std::ifstream(log_path).rdbuf();
  const std::string log = text.str();
  const std::vector<std::string> lines = absl::StrSplit(log, '\n');
  for (const std::string& line : lines)
    if (absl::StrContains(line, "error:")) return line;
  return lines.front();
}

}  // namespace

absl::StatusOr<std::string> FindCompiler(const std::string& compiler) {
  std::vector<std::string> names =
      compiler.empty() ? std::vector<std::string>{"cc", "gcc", "clang"} : std::vector<std::string>{compiler};
  if (compiler == "gcc" || compiler == "clang")
    // The plain name comes first; then versions in descending order.
    for (int version = kNewestVersion; version > 0; --version) names.push_back(Cat(compiler, "-", version));
  const char* const path = getenv("PATH");
  for (const std::string& name : names) {
    // A path is taken as it is; a name is looked for in the folders of PATH.
    if (absl::StrContains(name, '/') && access(name.c_str(), X_OK) == 0) return name;
    for (absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty())) {
      const std::string file = Cat(folder, "/", name);
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return absl::NotFoundError(compiler.empty() ? "no C compiler (cc, gcc or clang) on the PATH"
                                              : Cat("no compiler ", compiler, " on the PATH"));
}

absl::StatusOr<std::unique_ptr<Compilation>> Compilation::Start(
    const std::vector<std::pair<std::string, std::string>>& files, const std::vector<std::string>& command) {
  KIRSCH_ASSIGN_OR_RETURN(std::string directory, MakeDirectory());
  std::unique_ptr<Compilation> compilation(new Compilation);
  compilation->directory_ = std::move(directory);
  for (const auto& [name, text] : files) KIRSCH_RETURN_IF_ERROR(WriteFile(compilation->Path(name), text));
  KIRSCH_ASSIGN_OR_RETURN(compilation->compiler_, Spawn(command, compilation->directory_));
  return compilation;
}

std::string Compilation::Path(const std::string& file) const { return Cat(directory_, "/", file); }

absl::Status Compilation::Wait() {
  if (ExitStatusOf(std::exchange(compiler_, -1)) == 0) return absl::OkStatus();
  return absl::InternalError(FirstComplaint(Path("log")));
}

absl::Status Compilation::Run(const std::string& program) {
  KIRSCH_ASSIGN_OR_RETURN(const pid_t child, Spawn({program}, directory_));
  const int status = ExitStatusOf(child);
  if (status == 0) return absl::OkStatus();
  return absl::Status(status == kUnable ? absl::StatusCode::kUnavailable : absl::StatusCode::kInternal,
                      FirstComplaint(Path("log")));
}

// A compiler that still works would write into the directory, so it is waited for first.
Compilation::~Compilation() {
  if (compiler_ >= 0) ExitStatusOf(compiler_);
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

}  // namespace kirsch
