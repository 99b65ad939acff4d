// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_header.h"

#include <dlfcn.h>

#include <utility>

#include "codegen/header/self_test.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr char kEntry[] = "kirsch_verify_entry", kPackEntry[] = "kirsch_verify_pack";

// Returns the first arguments of a function: "tensors[0], tensors[1]".
std::string Tensors(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) Append(&text, i > 0 ? ", " : "", "tensors[", i, "]");
  return text;
}

// Returns the function that packs. It does nothing if the header says another number of bytes than the
// program, so that the kernel reads poison and fails.
std::string PackWrapper(const LoopProgram& program) {
  if (!program.packing) return "";
  return Cat("void ", kPackEntry, "(void* const* tensors) {\n  if (", program.name,
             "_packed_bytes() == ", program.packing->bytes, ") ", PackName(program), "(",
             Tensors(program.packing->constants.size() + 1), ");\n}\n");
}

// Returns a function of the full ABI that calls the header's, which lacks the parameters it does not need. C
// turns pointers to void into pointers of the header's types, whatever these are. Only a bare header includes
// nothing by itself.
std::string Wrapper(const LoopProgram& program, HeaderMode mode) {
  std::string arguments = Tensors(program.tensors.size()), condition;
  if (program.TakesScratch()) Append(&arguments, ", scratch");
  if (program.TakesThreads()) Append(&arguments, ", thread, n_threads");
  if (program.TakesPhases()) {
    Append(&arguments, ", shared, phase");
    condition = Cat("if (", program.name, "_phases() == ", program.phases, " && ", program.name,
                    "_shared_bytes() == ", program.shared_bytes, ") ");
  }
  return Cat(
      mode == HeaderMode::kBare ? "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n" : "",
      "#include \"kernel.h\"\nvoid ", kEntry,
      "(void* const* tensors, void* scratch, size_t thread, size_t n_threads, void* shared,\n"
      "                  size_t phase) {\n"
      "  (void)scratch; (void)thread; (void)n_threads; (void)shared; (void)phase;\n  ",
      condition, program.name, "(", arguments, ");\n}\n", PackWrapper(program));
}

constexpr char kSource[] = "kernel.c";
constexpr char kLibrary[] = "kernel.so";
constexpr char kSelfTest[] = "./self_test";

// The compiler's arguments. Headers promise C99, so nothing newer is allowed.
std::vector<std::string> CommandLine(const std::string& compiler, const std::vector<std::string>& features,
                                     HeaderMode mode, const std::vector<std::string>& more) {
  std::vector<std::string> command = {compiler, "-std=c99", "-O2", kSource};
  // Only then does the compiler have to be told of the instructions.
  if (mode != HeaderMode::kAttributes)
    for (const std::string& feature : features) command.push_back(Cat("-m", feature));
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HeaderBuild>> HeaderBuild::Start(const std::string& header,
                                                                const std::string& source,
                                                                const std::vector<std::string>& command) {
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<Compilation> compilation,
                          Compilation::Start({{"kernel.h", header}, {kSource, source}}, command));
  std::unique_ptr<HeaderBuild> build(new HeaderBuild);
  build->compilation_ = std::move(compilation);
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
  const std::string macro = Cat("-D", SelfTestMacro(name));
  return Start(header, "#include \"kernel.h\"\n",
               CommandLine(compiler, features, mode, {macro, "-o", kSelfTest}));
}

absl::Status HeaderBuild::WaitForCompiler() {
  const absl::Status compiled = compilation_->Wait();
  if (compiled.ok()) return absl::OkStatus();
  return absl::InternalError(Cat("the header does not compile: ", std::string(compiled.message())));
}

absl::StatusOr<GraphKernelFunction> HeaderBuild::Finish() {
  KIRSCH_RETURN_IF_ERROR(WaitForCompiler());
  library_ = dlopen(compilation_->Path(kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return absl::InternalError(Cat("the compiled header does not load: ", dlerror()));
  pack_ = dlsym(library_, kPackEntry);
  return reinterpret_cast<GraphKernelFunction>(dlsym(library_, kEntry));
}

// Only Finish() loads a library.
absl::StatusOr<std::string> HeaderBuild::MachineCode() const {
  return ReadFile(compilation_->Path(library_ == nullptr ? kSelfTest : kLibrary));
}

absl::Status HeaderBuild::RunSelfTest() {
  KIRSCH_RETURN_IF_ERROR(WaitForCompiler());
  const absl::Status passed = compilation_->Run(kSelfTest);
  if (passed.ok() || !absl::IsInternal(passed)) return passed;
  return absl::InternalError(Cat("the self-test fails: ", std::string(passed.message())));
}

HeaderBuild::~HeaderBuild() {
  if (library_ != nullptr) dlclose(library_);
}

}  // namespace kirsch
