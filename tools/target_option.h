// SPDX-License-Identifier: Apache-2.0
// Targets as the command line names them.
#ifndef KIRSCH_TOOLS_TARGET_OPTION_H_
#define KIRSCH_TOOLS_TARGET_OPTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"

namespace kirsch {

// The targets of a list with commas between, each as LoadTarget takes it, at least one. No name twice.
absl::StatusOr<std::vector<Target>> LoadTargets(const std::string& list);

// Their names, with commas between.
std::string NamesOfTargets(const std::vector<Target>& targets);

// The files that LoadTargets reads for the list: target files, and what was calibrated on this machine.
std::vector<std::string> TargetFilesIn(const std::string& list);

// As FindUsableTarget has it; its warnings go to standard error, and at the end where a host's constants are
// from (that they are not calibrated: once a day).
absl::StatusOr<Target> LoadTarget(const std::string& name_or_path);

// Was `target` loaded by this command, which says today that it is not calibrated?
bool IsToldUncalibrated(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TARGET_OPTION_H_
