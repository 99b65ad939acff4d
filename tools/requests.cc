// SPDX-License-Identifier: Apache-2.0
#include "tools/requests.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "codegen/header/matmul_dispatch.h"
#include "spec/dtype.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/identifier.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "synthesis/family.h"
#include "tools/mlir_file.h"
#include "tools/options.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// The kernel of the file that --kernel names.
absl::StatusOr<std::vector<KernelRequest>> OnlyKernel(const RequestArguments& arguments,
                                                      const std::vector<KernelRequest>& kernels) {
  for (const KernelRequest& kernel : kernels)
    if (kernel.name == arguments.kernel) return std::vector<KernelRequest>{kernel};
  const std::vector<std::string_view> names = NamesOf(kernels);
  return absl::InvalidArgumentError(Cat("--kernel: expected a kernel of ", arguments.file, " (",
                                        Join(names, " "), "), got ", Quoted(arguments.kernel),
                                        DidYouMean(arguments.kernel, names)));
}

// The text of a file of kernels; of a file of MLIR, what it computes in the kernel language.
absl::StatusOr<std::string> ReadKernelText(const std::string& path) {
  if (!IsMlirFile(path)) return ReadFile(path);
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<ImportedKernel> kernels, ReadMlirFile(path));
  return TextOf(kernels);
}

// The kernels of the file or of SPEC. Convolutions become graphs where Winograd's algorithm is allowed, as
// only plans have it.
absl::StatusOr<std::vector<KernelRequest>> ReadKernels(const RequestArguments& arguments) {
  if (!arguments.file.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(std::string text, ReadKernelText(arguments.file));
    absl::StatusOr<std::vector<KernelRequest>> kernels = ParseKernelFile(text, arguments.file);
    if (kernels.ok() && !arguments.kernel.empty()) return OnlyKernel(arguments, *kernels);
    return kernels;
  }
  KIRSCH_ASSIGN_OR_RETURN(KernelRequest request, ParseKernelLine(arguments.solve.spec, "spec"));
  return std::vector<KernelRequest>{std::move(request)};
}

// The name in C of what is in a file: "kernels" of "dir/kernels.kirsch". A name that C has no use for gets a
// prefix.
std::string FileName(const std::string& path) {
  const std::string name = MakeIdentifier(std::filesystem::path(path).stem().string());
  return IsIdentifier(name) ? name : Cat("kernels_", name);
}

// All functions of a kernel's code. With several targets, each target's have its name in theirs.
//   mlp_haswell_m1   mlp_haswell_m1_pack   mlp_haswell_m2   ...   mlp_haswell
std::vector<std::string> CodeNames(const KernelRequest& kernel, absl::Span<const Target> targets) {
  const std::vector<VaryingSize> sizes = kernel.sizes();
  std::vector<std::string> names;
  for (const Target& target : targets) {
    const std::string base =
        targets.size() > 1 ? Cat(kernel.name, "_", MakeIdentifier(target.name)) : kernel.name;
    for (int64_t i = 0; i < CountMembers(sizes); ++i)
      for (const char* suffix : {"", "_pack"}) names.push_back(Cat(MemberName(base, sizes, i), suffix));
    names.push_back(base);  // chooses among the sizes
  }
  return names;
}

// The functions that the self-test of a header has. Copies and microkernels are not among them: they take
// names that are free.
std::vector<std::string> FileNames(const std::string& file) {
  std::vector<std::string> names;
  for (const char* rest : {"count", "cpuid", "differs", "erf", "exp", "memory", "most", "parameter"})
    names.push_back(Cat(file, "_", rest));
  for (const char* rest : {"fill_", "get_", "put_", "value_"})
    for (const DtypeInfo& info : kDtypes) names.push_back(Cat(file, "_", rest, info.name));
  return names;
}

// The names of parameters, each with its place for errors.
using Parameters = std::vector<std::pair<std::string, TextPosition>>;

// Parameters of a spec have no places of their own, so the kernel's serves.
Parameters ParametersOf(const ParsedSpec& parsed, TextPosition position) {
  Parameters parameters;
  for (const Parameter& parameter : parsed.parameters) parameters.emplace_back(parameter.name, position);
  return parameters;
}

Parameters ParametersOf(const Graph& graph, TextPosition) {
  Parameters parameters;
  for (int i = 0; i < graph.num_inputs(); ++i)
    parameters.emplace_back(graph.at(i).text, graph.at(i).position);
  return parameters;
}

// An error if a parameter has the name of a function that the kernel calls. In C the parameter would hide
// that function.
absl::Status CheckParameters(const std::string& file, const KernelRequest& kernel,
                             absl::Span<const Target> targets) {
  std::vector<std::string> called = CodeNames(kernel, targets);
  // The kernel's own public functions are not called by its code.
  std::erase_if(called, [&](const std::string& name) {
    return name == kernel.name || name == Cat(kernel.name, "_pack");
  });
  called.push_back(Cat(kernel.name, "_choose"));
  // All members of a family have the same parameters.
  const Parameters parameters = std::visit(
      [&](const auto& member) { return ParametersOf(member, kernel.position); }, kernel.family.member(0));
  for (const auto& [name, position] : parameters)
    if (std::ranges::find(called, name) != called.end())
      return ErrorAt(file, position,
                     Cat("expected another name than ", Quoted(name), ", as the code of ",
                         Quoted(kernel.name), " has a function of it"));
  return absl::OkStatus();
}

// Checks the kernels' names, with their prefix: each must be a name in C that is free, also of what the code
// of other kernels has.
//   f = matmul f32 1..2x8x8         its code has f_m1 and f_m2, so
//   f_m1 = matmul f32 64x64x64      this kernel is refused
absl::Status CheckNames(const RequestArguments& arguments, const std::string& file,
                        absl::Span<const KernelRequest> kernels, absl::Span<const Target> targets) {
  // In a file, an error has the place of the kernel.
  const auto refuse = [&](const KernelRequest& kernel, const std::string& message) {
    return arguments.file.empty() ? absl::InvalidArgumentError(message)
                                  : ErrorAt(arguments.file, kernel.position, message);
  };
  std::map<std::string, const KernelRequest*> names;
  for (const KernelRequest& kernel : kernels) {
    if (!arguments.prefix.empty() && !IsKernelName(kernel.name))
      return refuse(kernel, Cat("--prefix: expected one with which ", Quoted(kernel.name),
                                " is a name that neither C's library nor the header's code has"));
    names[kernel.name] = &kernel;
  }
  // The self-test's names, and then those of all code.
  for (const std::string& name : FileNames(file))
    if (const auto taken = names.find(name); taken != names.end())
      return refuse(*taken->second, Cat("expected another name than ", Quoted(name),
                                        ", as the self-test of the header has it"));
  for (const KernelRequest& kernel : kernels)
    for (const std::string& name : CodeNames(kernel, targets)) {
      const auto [taken, is_new] = names.try_emplace(name, &kernel);
      if (!is_new && taken->second != &kernel)
        return refuse(*taken->second, Cat("expected another name than ", Quoted(taken->second->name),
                                          ", as the code of ", Quoted(kernel.name), " has ", Quoted(name)));
    }
  return absl::OkStatus();
}

// Checks --dispatch: there is a matmul to find, no call finds two, and the names that this takes are free.
absl::Status CheckDispatch(const std::string& file, absl::Span<const KernelRequest> kernels,
                           absl::Span<const Target> targets) {
  std::vector<DispatchedText> texts;
  for (const KernelRequest& kernel : kernels) texts.push_back({kernel.name, kernel.text()});
  KIRSCH_RETURN_IF_ERROR(CheckMatmulDispatch(texts));
  const std::vector<std::string> names = MatmulDispatchNames(file, texts);
  for (const KernelRequest& kernel : kernels) {
    std::vector<std::string> own = CodeNames(kernel, targets);
    for (std::string_view suffix : GeneratedSuffixes()) own.push_back(Cat(kernel.name, suffix));
    for (const std::string& name : names)
      if (std::ranges::find(own, name) != own.end())
        return absl::InvalidArgumentError(Cat("--dispatch: expected another name than ", Quoted(kernel.name),
                                              " for a kernel, as the file's own code has ", Quoted(name)));
  }
  return absl::OkStatus();
}

// Gives the only kernel the name of --name.
absl::Status SetName(const RequestArguments& arguments, std::vector<KernelRequest>* kernels) {
  if (arguments.name.empty()) return absl::OkStatus();
  if (kernels->size() > 1)
    return absl::InvalidArgumentError(Cat("--name: expected a single kernel, got the ", kernels->size(),
                                          " of ", arguments.file, " (--kernel takes one of them)"));
  if (!IsKernelName(arguments.name))
    return absl::InvalidArgumentError(
        Cat("--name: expected letters, digits and underscores, a letter first, and no name that C, its "
            "library or "
            "the header's code has, got ",
            Quoted(arguments.name)));
  kernels->front().name = arguments.name;
  return absl::OkStatus();
}

}  // namespace

void AddRequestOptions(const Command& command, const DbOptions& db, RequestArguments& arguments) {
  command.BeginGroup(kWhatGroup);
  AddSolveOptions(command, db, arguments.solve).Required(false);
  command.BeginGroup(kWhatGroup);
  command.AddFile("-f,--file", arguments.file,
                  "Instead of SPEC, a file of kernels: lines of SPEC or NAME = SPEC; # begins a comment");
  command.Add("--kernel", arguments.kernel, "Of the file's kernels, this one alone")
      .Check(NotEmpty("a name"));
  // Here --target may be a list; AddSolveOptions says that it is one target.
  command.Describe("--target",
                   "A known target, host (the default), or a target file; several with commas between are "
                   "chosen from at run time");
}

std::vector<std::string> InputsOf(const RequestArguments& arguments) {
  std::vector<std::string> files = InputsOf(arguments.solve);
  files.push_back(arguments.file);
  return files;
}

absl::StatusOr<Requests> ReadRequests(const RequestArguments& arguments) {
  // 1. Options that go together.
  if (arguments.solve.spec.empty() == arguments.file.empty())
    return absl::InvalidArgumentError("expected either SPEC or -f FILE");
  if (!arguments.kernel.empty() && arguments.file.empty())
    return absl::InvalidArgumentError("--kernel: expected -f FILE beside it");
  if (arguments.dispatch && arguments.file.empty())
    return absl::InvalidArgumentError("--dispatch: expected -f FILE beside it, which names the function");
  if (!arguments.prefix.empty() && !IsIdentifier(arguments.prefix))
    return absl::InvalidArgumentError(
        Cat("--prefix: expected letters, digits and underscores, a letter first, no keyword or macro of C or "
            "C++, got ",
            Quoted(arguments.prefix)));
  // 2. The kernels, and whether they can be solved as they are asked for.
  KIRSCH_ASSIGN_OR_RETURN(std::vector<KernelRequest> kernels, ReadKernels(arguments));
  if (arguments.solve.allow_winograd)
    for (KernelRequest& kernel : kernels) kernel.UseGraphOfConvolution();
  KIRSCH_RETURN_IF_ERROR(SetName(arguments, &kernels));
  for (const KernelRequest& kernel : kernels) {
    KIRSCH_RETURN_IF_ERROR(CheckFamily(arguments.solve, kernel));
    KIRSCH_RETURN_IF_ERROR(CheckCold(arguments.solve.cold, kernel.family.member(0)));
  }
  // 3. The targets.
  KIRSCH_ASSIGN_OR_RETURN(std::vector<Target> targets, LoadTargets(arguments.solve.target));
  // 4. All names in C, once kernels and targets are known.
  for (KernelRequest& kernel : kernels) kernel.name = arguments.prefix + kernel.name;
  const std::string name =
      arguments.file.empty() ? kernels.front().name : arguments.prefix + FileName(arguments.file);
  KIRSCH_RETURN_IF_ERROR(CheckNames(arguments, name, kernels, targets));
  if (arguments.dispatch) KIRSCH_RETURN_IF_ERROR(CheckDispatch(name, kernels, targets));
  for (const KernelRequest& kernel : kernels)
    KIRSCH_RETURN_IF_ERROR(CheckParameters(arguments.file, kernel, targets));
  return Requests{name, std::move(kernels), std::move(targets)};
}

}  // namespace kirsch
