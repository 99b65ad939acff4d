#include "tools/target_option.h"

#include <cstdio>
#include <utility>

#include "codegen/host_cpu.h"
#include "spec/targets.h"

namespace kirsch {

absl::StatusOr<Target> LoadTarget(const std::string& name_or_path) {
  absl::StatusOr<TargetFile> found = FindTarget(name_or_path, DetectHostCpu().name);
  if (!found.ok()) return found.status();
  for (const std::string& warning : found->warnings)
    std::fprintf(stderr, "kirsch: warning: %s\n", warning.c_str());
  return std::move(found->target);
}

}  // namespace kirsch
