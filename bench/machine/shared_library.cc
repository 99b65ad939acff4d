// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/shared_library.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "spec/text/cat.h"

namespace kirsch {

absl::StatusOr<void*> OpenLibrary(const std::vector<std::string>& names) {
  std::string reason;
  for (const std::string& name : names) {
    // RTLD_LOCAL, so that two libraries with functions of the same name don't get into each other's way.
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    // If none can be loaded, the reason for the first name is reported.
    if (reason.empty()) reason = dlerror();
  }
  return absl::NotFoundError(reason);
}

std::string BesideExecutable(const std::string& file) {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return (executable.parent_path() / file).string();
}

std::string PluginPath(const std::string& name) {
  const std::string file = Cat("lib", name, ".so");
  if (const char* directory = std::getenv("KIRSCH_PEER_DIR")) return Cat(directory, "/", file);
  return BesideExecutable(Cat("peers/", file));
}

}  // namespace kirsch
