// SPDX-License-Identifier: Apache-2.0
// Targets that code can be made for.
#ifndef KIRSCH_SYNTHESIS_USABLE_TARGET_H_
#define KIRSCH_SYNTHESIS_USABLE_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The target that `name_or_path` means (see spec/target/targets.h), if LLVM knows its CPU.
absl::StatusOr<TargetFile> FindUsableTarget(const std::string& name_or_path);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_USABLE_TARGET_H_
