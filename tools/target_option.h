// Targets as the command line names them.
#ifndef KIRSCH_TOOLS_TARGET_OPTION_H_
#define KIRSCH_TOOLS_TARGET_OPTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/target/target.h"
#include "spec/target/target_json.h"

namespace kirsch {

// The targets of a list with commas between, each as LoadTarget takes it, at least one. No name twice.
absl::StatusOr<std::vector<Target>> LoadTargets(const std::string& list);

// Their names, with commas between.
std::string NamesOfTargets(const std::vector<Target>& targets);

// The target that `name_or_path` means (see spec/target/targets.h), if LLVM knows its CPU.
absl::StatusOr<TargetFile> FindUsableTarget(const std::string& name_or_path);

// The same; its warnings go to standard error.
absl::StatusOr<Target> LoadTarget(const std::string& name_or_path);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TARGET_OPTION_H_
