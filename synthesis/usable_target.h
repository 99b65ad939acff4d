// SPDX-License-Identifier: Apache-2.0
// Finds a target, and makes sure that code can be made for it. An unknown CPU is an error with its place,
// before anything is searched.
#ifndef KIRSCH_SYNTHESIS_USABLE_TARGET_H_
#define KIRSCH_SYNTHESIS_USABLE_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The target that `name_or_path` means: a known name, `host`, or a target file (spec/target/targets.h). An
// error with its place if LLVM does not know its CPU.
absl::StatusOr<TargetFile> FindUsableTarget(const std::string& name_or_path);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_USABLE_TARGET_H_
