// SPDX-License-Identifier: Apache-2.0
#include "synthesis/usable_target.h"

#include "codegen/llvm/host_cpu.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {

absl::StatusOr<TargetFile> FindUsableTarget(const std::string& name_or_path) {
  KIRSCH_ASSIGN_OR_RETURN(TargetFile found, FindTarget(name_or_path, DetectHostCpu().name));
  if (const std::string& cpu = found.target.cpu; !KnowsCpu(cpu))
    return ErrorAt(name_or_path, found.cpu, Cat("expected a CPU that LLVM knows, got ", Quoted(cpu)));
  return found;
}

}  // namespace kirsch
