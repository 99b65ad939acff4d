// SPDX-License-Identifier: Apache-2.0
// Shared libraries found at run time.
#ifndef KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_
#define KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_

#include <dlfcn.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// The first of the libraries that can be loaded (never unloaded). NotFound with the loader's words otherwise.
absl::StatusOr<void*> OpenLibrary(const std::vector<std::string>& names);

// The function, or null.
template <typename Function>
Function* Symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Where Kirsch's own plug-ins are: peers/ beside the executable, or $KIRSCH_PEER_DIR.
std::string PluginPath(const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_SHARED_LIBRARY_H_
