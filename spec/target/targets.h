// The targets Kirsch knows by name, and finding one.
#ifndef KIRSCH_SPEC_TARGET_TARGETS_H_
#define KIRSCH_SPEC_TARGET_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target/target.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The files of spec/target/targets/, which are part of the binary. In the order of their names; never changes.
const std::vector<Target>& NamedTargets();

// `name_or_path`: a named target, "host" (see spec/target/host.h; `llvm_cpu` is LLVM's name of this machine's CPU,
// and is used for nothing else), or the path of a target file. Errors are one line.
absl::StatusOr<TargetFile> FindTarget(std::string_view name_or_path, std::string_view llvm_cpu);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGETS_H_
