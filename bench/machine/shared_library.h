// SPDX-License-Identifier: Apache-2.0
// Finds shared libraries at run time. Peers are no dependencies of the build, and may be missing.
#ifndef KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_
#define KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_

#include <dlfcn.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// Loads the first of the libraries that can be loaded, and never unloads it. NotFound with the loader's words
// on the first one otherwise.
absl::StatusOr<void*> OpenLibrary(const std::vector<std::string>& names);

// Returns the function of that name, or null. `Function` must be its type: nothing checks it.
template <typename Function>
Function* Symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Returns the path of a file beside the executable, wherever the program was called from.
std::string BesideExecutable(const std::string& file);

// Returns where Kirsch's own plug-in `name` is: in $KIRSCH_PEER_DIR, or in peers/ beside the executable.
std::string PluginPath(const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_
