#include "codegen/verify_header.h"

#include <dlfcn.h>
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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/self_test.h"

extern char** environ;

namespace kirsch {
namespace {

namespace fs = std::filesystem;

constexpr char kEntry[] = "kirsch_verify_entry", kPackEntry[] = "kirsch_verify_pack";

absl::StatusOr<std::string> MakeDirectory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (error ? fs::path("/tmp") : parent) / "kirsch-verify-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    return absl::UnavailableError(
        absl::StrCat("cannot make a temporary directory like ", name, ": ", strerror(errno)));
  return name;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("cannot write ", path));
}

// The function that packs, refusing to if the header says another number of bytes.
std::string PackWrapper(const LoopProgram& program) {
  if (!program.packing) return "";
  return absl::StrCat("void ", kPackEntry, "(const void* operand, void* packed) {\n  if (", program.name,
                      "_packed_bytes() == ", program.packing->bytes, ") ", PackName(program),
                      "(operand, packed);\n}\n");
}

// A function of the full ABI that calls the header's, which lacks the parameters it does not need. C turns
// pointers to void into what the header has, whatever its element types are. Only a bare header includes
// nothing.
std::string GraphWrapper(const LoopProgram& program) {
  std::string arguments;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    absl::StrAppend(&arguments, i == 0 ? "" : ", ", "tensors[", i, "]");
  if (program.scratch_bytes > 0) absl::StrAppend(&arguments, ", scratch");
  if (TakesThreads(program)) absl::StrAppend(&arguments, ", thread, n_threads");
  return absl::StrCat("void ", kEntry,
                      "(void* const* tensors, void* scratch, size_t thread, size_t n_threads) {\n"
                      "  (void)scratch; (void)thread; (void)n_threads;\n  ",
                      program.name, "(", arguments, ");\n}\n");
}

std::string SpecWrapper(const LoopProgram& program) {
  std::string arguments = "lhs, rhs, ";
  for (int i = 0; i < program.arguments; ++i) absl::StrAppend(&arguments, "arg", i + 1, ", ");
  absl::StrAppend(&arguments, "out");
  if (program.scratch_bytes > 0) absl::StrAppend(&arguments, ", scratch");
  if (TakesThreads(program)) absl::StrAppend(&arguments, ", thread, n_threads");
  return absl::StrCat(
      "void ", kEntry,
      "(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,\n"
      "                  size_t n_threads, const void* arg1, const void* arg2, const void* arg3) {\n"
      "  (void)scratch; (void)thread; (void)n_threads; (void)arg1; (void)arg2; (void)arg3;\n"
      "  ",
      program.name, "(", arguments, ");\n}\n", PackWrapper(program));
}

std::string Wrapper(const LoopProgram& program, HeaderMode mode) {
  return absl::StrCat(
      mode == HeaderMode::kBare ? "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n" : "",
      "#include \"kernel.h\"\n", program.tensors.empty() ? SpecWrapper(program) : GraphWrapper(program));
}

constexpr char kSource[] = "kernel.c";
constexpr char kLibrary[] = "kernel.so";
constexpr char kSelfTest[] = "./self_test";

std::vector<std::string> CommandLine(const std::string& compiler, const std::vector<std::string>& features,
                                     HeaderMode mode, const std::vector<std::string>& more) {
  std::vector<std::string> command = {compiler, "-std=c99", "-O2", kSource};
  if (mode != HeaderMode::kAttributes)
    for (const std::string& feature : features) command.push_back(absl::StrCat("-m", feature));
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

// Starts the command in `directory`, its output going to the file "log" there.
absl::StatusOr<pid_t> Spawn(std::vector<std::string> command, const std::string& directory) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return absl::UnavailableError(absl::StrCat("cannot run ", command[0], ": ", strerror(error)));
  return child;
}

// True if the process ended well.
bool Wait(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The first line of the log that names an error, else the first line.
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
  const std::vector<std::string> names =
      compiler.empty() ? std::vector<std::string>{"cc", "gcc", "clang"} : std::vector<std::string>{compiler};
  const char* const path = getenv("PATH");
  for (const std::string& name : names) {
    if (absl::StrContains(name, '/') && access(name.c_str(), X_OK) == 0) return name;
    for (absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty())) {
      const std::string file = absl::StrCat(folder, "/", name);
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return absl::NotFoundError(compiler.empty() ? "no C compiler (cc, gcc or clang) on the PATH"
                                              : absl::StrCat("no compiler ", compiler, " on the PATH"));
}

absl::StatusOr<std::unique_ptr<HeaderBuild>> HeaderBuild::Start(const std::string& header,
                                                                const std::string& source,
                                                                const std::vector<std::string>& command) {
  absl::StatusOr<std::string> directory = MakeDirectory();
  if (!directory.ok()) return directory.status();
  std::unique_ptr<HeaderBuild> build(new HeaderBuild);
  build->directory_ = *std::move(directory);
  absl::Status written = WriteFile(build->directory_ + "/kernel.h", header);
  written.Update(WriteFile(absl::StrCat(build->directory_, "/", kSource), source));
  if (!written.ok()) return written;
  const absl::StatusOr<pid_t> child = Spawn(command, build->directory_);
  if (!child.ok()) return child.status();
  build->compiler_ = *child;
  return build;
}

absl::StatusOr<std::unique_ptr<HeaderBuild>> HeaderBuild::Start(const std::string& header,
                                                                const LoopProgram& program, HeaderMode mode,
                                                                const std::string& compiler) {
  return Start(header, Wrapper(program, mode),
               CommandLine(compiler, program.features, mode, {"-fPIC", "-shared", "-o", kLibrary}));
}

absl::StatusOr<std::unique_ptr<HeaderBuild>> HeaderBuild::StartSelfTest(
    const std::string& header, const std::string& name, const std::vector<std::string>& features,
    HeaderMode mode, const std::string& compiler) {
  const std::string macro = absl::StrCat("-D", SelfTestMacro(name));
  return Start(header, "#include \"kernel.h\"\n",
               CommandLine(compiler, features, mode, {macro, "-o", kSelfTest}));
}

absl::Status HeaderBuild::WaitForCompiler() {
  if (Wait(std::exchange(compiler_, -1))) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the header does not compile: ", FirstComplaint(directory_ + "/log")));
}

absl::StatusOr<EpilogueKernelFunction> HeaderBuild::Finish() {
  const absl::StatusOr<void*> entry = LoadEntry();
  if (!entry.ok()) return entry.status();
  return reinterpret_cast<EpilogueKernelFunction>(*entry);
}

absl::StatusOr<GraphKernelFunction> HeaderBuild::FinishGraph() {
  const absl::StatusOr<void*> entry = LoadEntry();
  if (!entry.ok()) return entry.status();
  return reinterpret_cast<GraphKernelFunction>(*entry);
}

absl::StatusOr<void*> HeaderBuild::LoadEntry() {
  if (absl::Status compiled = WaitForCompiler(); !compiled.ok()) return compiled;
  library_ = dlopen(absl::StrCat(directory_, "/", kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr)
    return absl::InternalError(absl::StrCat("the compiled header does not load: ", dlerror()));
  pack_ = reinterpret_cast<PackFunction>(dlsym(library_, kPackEntry));
  return dlsym(library_, kEntry);
}

absl::Status HeaderBuild::RunSelfTest() {
  if (absl::Status compiled = WaitForCompiler(); !compiled.ok()) return compiled;
  const absl::StatusOr<pid_t> child = Spawn({kSelfTest}, directory_);
  if (!child.ok()) return child.status();
  if (Wait(*child)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the self-test fails: ", FirstComplaint(directory_ + "/log")));
}

HeaderBuild::~HeaderBuild() {
  if (compiler_ >= 0) Wait(compiler_);
  if (library_ != nullptr) dlclose(library_);
  std::error_code ignored;
  if (!directory_.empty()) fs::remove_all(directory_, ignored);
}

}  // namespace kirsch
