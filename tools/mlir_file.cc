// SPDX-License-Identifier: Apache-2.0
#include "tools/mlir_file.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "bench/machine/shared_library.h"
#include "import/mlir_module.h"
#include "import/plugin/mlir_plugin.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// What the plug-in calls back: keeps the bytes.
void Take(void* context, const char* data, int64_t bytes) {
  static_cast<std::string*>(context)->assign(data, static_cast<size_t>(bytes));
}

// The module that the text is, read by MLIR itself.
absl::StatusOr<MlirModule> ParseMlir(const std::string& text, const std::string& source) {
  const std::string path = BesideExecutable("libkirsch_mlir.so");
  const absl::StatusOr<void*> library = OpenLibrary({path});
  if (!library.ok())
    return absl::NotFoundError(
        Cat("files of MLIR are read by MLIR 19 (Debian: libmlir-19-dev, before the build): ",
            library.status().message()));
  const auto read = Symbol<decltype(kirsch_mlir_read)>(*library, "kirsch_mlir_read");
  if (read == nullptr) return absl::NotFoundError(Cat("'", path, "': expected the plug-in of this version"));
  std::string answer;
  if (read(text.data(), static_cast<int64_t>(text.size()), source.c_str(), Take, &answer) == 0)
    return absl::InvalidArgumentError(Printable(answer));
  return ReadMlirModule(answer);
}

}  // namespace

bool IsMlirFile(std::string_view path) { return absl::EndsWith(ForAbsl(path), ".mlir"); }

absl::StatusOr<std::vector<ImportedKernel>> ReadMlirFile(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  KIRSCH_ASSIGN_OR_RETURN(const MlirModule module, ParseMlir(text, path));
  const std::string name = MakeIdentifier(std::filesystem::path(path).stem().string());
  return ImportKernels(module, path, IsKernelName(name) ? name : Cat("kernel_", name));
}

std::string TextOf(const std::vector<ImportedKernel>& kernels) {
  return Join(kernels, "\n", &ImportedKernel::text);
}

}  // namespace kirsch
