// SPDX-License-Identifier: Apache-2.0
// Finds a target by its name, by the path of its file, or as the machine that the program runs on.
#ifndef KIRSCH_SPEC_TARGET_TARGETS_H_
#define KIRSCH_SPEC_TARGET_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The targets of the files in spec/target/targets/, which are a part of the program. They come in the order
// of their names, and are read once: the result never changes, and any thread may use it.
const std::vector<Target>& NamedTargets();

// `name_or_path` is a named target, "host", or the path of a target file. Names come first, so a file called
// "znver4" has to be given as "./znver4". "host-avx2", or "znver4-avx2", is that machine for code that needs
// no more than AVX2 (ForAvx2). "host" is the target that was calibrated on this machine, if HostFile() is
// there. Else it is HostTarget(ReadHost(), llvm_cpu) (host.h), where `llvm_cpu` is LLVM's name of this
// machine's CPU. Errors are one line. A calibrated file with features that this CPU lacks is an error, too.
absl::StatusOr<TargetFile> FindTarget(std::string_view name_or_path, std::string_view llvm_cpu);

// The path at which the calibrated constants of this machine are kept, whether there are any or not:
// targets/<signature>.json in the first of these directories that is set: $KIRSCH_CONFIG,
// $XDG_CONFIG_HOME/kirsch, ~/.config/kirsch. Empty if KIRSCH_CONFIG is "none", or if there is no such place.
std::string HostFile();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGETS_H_
