#include "tools/requests.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "spec/cat.h"
#include "spec/file.h"
#include "spec/identifier.h"
#include "spec/text.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// The one that is asked for.
absl::StatusOr<std::vector<KernelRequest>> OnlyKernel(const RequestArguments& arguments,
                                                      const std::vector<KernelRequest>& kernels) {
  std::string names;
  for (const KernelRequest& kernel : kernels) {
    if (kernel.name == arguments.kernel) return std::vector<KernelRequest>{kernel};
    Append(&names, names.empty() ? "" : " ", kernel.name);
  }
  return absl::InvalidArgumentError(Cat("--kernel: expected a kernel of ", arguments.file, " (", names,
                                        "), got ", Quoted(arguments.kernel)));
}

absl::StatusOr<std::vector<KernelRequest>> ReadKernels(const RequestArguments& arguments) {
  if (!arguments.file.empty()) {
    absl::StatusOr<std::string> text = ReadFile(arguments.file);
    if (!text.ok()) return text.status();
    absl::StatusOr<std::vector<KernelRequest>> kernels = ParseKernelFile(*text, arguments.file);
    if (kernels.ok() && !arguments.kernel.empty()) return OnlyKernel(arguments, *kernels);
    return kernels;
  }
  absl::StatusOr<KernelRequest> request = ParseKernelLine(arguments.solve.spec, "spec");
  if (!request.ok()) return request.status();
  return std::vector<KernelRequest>{*std::move(request)};
}

// "kernels" of "dir/kernels.kirsch".
std::string FileName(const std::string& path) {
  const std::string name = IdentifierOf(std::filesystem::path(path).stem().string());
  return IsIdentifier(name) ? name : Cat("kernels_", name);
}

}  // namespace

void AddRequestOptions(CLI::App& command, const DbOptions& db, RequestArguments& arguments) {
  AddSolveOptions(command, db, arguments.solve)->required(false);
  command.add_option("-f,--file", arguments.file,
                     "Instead of SPEC, a file of kernels: lines of SPEC or NAME = SPEC; # begins a comment");
  command.add_option("--kernel", arguments.kernel, "Of the file's kernels, this one alone");
  command.get_option("--target")
      ->description(
          "A known target, host (the default), or a target file; several with commas between are chosen from "
          "at run time");
}

absl::StatusOr<Requests> ReadRequests(const RequestArguments& arguments) {
  if (arguments.solve.spec.empty() == arguments.file.empty())
    return absl::InvalidArgumentError("expected either SPEC or -f FILE");
  if (!arguments.kernel.empty() && arguments.file.empty())
    return absl::InvalidArgumentError("--kernel: expected -f FILE beside it");
  if (!arguments.prefix.empty() && !IsIdentifier(arguments.prefix))
    return absl::InvalidArgumentError(Cat(
        "--prefix: expected letters, digits and underscores, no digit first, no keyword of C or C++, got ",
        Quoted(arguments.prefix)));
  absl::StatusOr<std::vector<KernelRequest>> kernels = ReadKernels(arguments);
  if (!kernels.ok()) return kernels.status();
  const bool graphs = std::any_of(kernels->begin(), kernels->end(),
                                  [](const KernelRequest& kernel) { return kernel.graph.has_value(); });
  if (arguments.solve.allow_winograd && !graphs)
    return NoGraph(arguments.file.empty() ? arguments.solve.spec : arguments.file);
  absl::StatusOr<std::vector<Target>> targets = LoadTargets(arguments.solve.target);
  if (!targets.ok()) return targets.status();
  for (KernelRequest& kernel : *kernels) kernel.name = arguments.prefix + kernel.name;
  const std::string name =
      arguments.file.empty() ? kernels->front().name : arguments.prefix + FileName(arguments.file);
  return Requests{name, *std::move(kernels), *std::move(targets)};
}

}  // namespace kirsch
