// SPDX-License-Identifier: Apache-2.0
// The targets Kirsch knows by name, and finding one.
#ifndef KIRSCH_SPEC_TARGET_TARGETS_H_
#define KIRSCH_SPEC_TARGET_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The files of spec/target/targets/, which are part of the binary. In the order of their names; never
// changes.
const std::vector<Target>& NamedTargets();

// `name_or_path`: a named target, "host", or the path of a target file. Errors are one line. "host" is what
// was calibrated on this machine, if HostFile() is there; else HostTarget(ReadHost(), llvm_cpu) (host.h),
// where `llvm_cpu` is LLVM's name of this machine's CPU.
absl::StatusOr<TargetFile> FindTarget(std::string_view name_or_path, std::string_view llvm_cpu);

// Where the calibrated constants of this machine are kept: targets/<signature>.json in the directory
// $KIRSCH_CONFIG, or $XDG_CONFIG_HOME/kirsch, or ~/.config/kirsch. Empty if KIRSCH_CONFIG is "none", or there
// is no such place.
std::string HostFile();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGETS_H_
