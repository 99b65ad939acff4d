// SPDX-License-Identifier: Apache-2.0
// Loads the targets that the command line names, and tells the user what is known of their costs.
#ifndef KIRSCH_TOOLS_TARGET_OPTION_H_
#define KIRSCH_TOOLS_TARGET_OPTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target.h"

namespace kirsch {

// The targets of a list with commas between, at least one, each as LoadTarget takes it. InvalidArgument if
// two would give functions the same name.
absl::StatusOr<std::vector<Target>> LoadTargets(const std::string& list);

// Their names, with commas between, for reports.
std::string NamesOfTargets(const std::vector<Target>& targets);

// The files that LoadTargets reads for the list: target files, and for `host` what was calibrated on this
// machine.
std::vector<std::string> TargetFilesIn(const std::string& list);

// The target as by FindUsableTarget. Its warnings go to standard error. Where the constants of a host are
// from is a remark at the end; that they are not calibrated is said once a day.
absl::StatusOr<Target> LoadTarget(const std::string& name_or_path);

// True if this command has loaded `target`, and says today that it is not calibrated.
bool IsToldUncalibrated(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TARGET_OPTION_H_
