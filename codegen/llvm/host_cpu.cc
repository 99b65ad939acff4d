// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/host_cpu.h"

#include <algorithm>
#include <memory>

#include "codegen/llvm/llvm_target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "spec/check.h"
#include "spec/target/host.h"
#include "spec/text/cat.h"

namespace kirsch {

// A static variable of a function, so several threads may make the first call.
const HostCpu& DetectHostCpu() {
  static const HostCpu* const host = [] {
    auto* detected = new HostCpu{llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      if (feature.getValue()) detected->features.push_back(feature.getKey().str());
    // Some features are there, but the system does not let this process use them.
    DropForbidden(&detected->features);
    std::ranges::sort(detected->features);
    return detected;
  }();
  return *host;
}

std::string FirstMissing(const std::vector<std::string>& features,
                         const std::vector<std::string>& available) {
  for (const std::string& feature : features)
    if (!std::ranges::binary_search(available, feature)) return feature;
  return "";
}

std::string MissingOnHost(const std::vector<std::string>& features) {
  return FirstMissing(features, DetectHostCpu().features);
}

absl::Status CanRun(const LoopProgram& program, const Target& target) {
  const std::string missing = MissingOnHost(program.features);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("this CPU can't run the code for ", target.name, ": it lacks ", missing));
}

bool KnowsCpu(const std::string& name) {
  InitializeLlvm();
  std::string error;
  const llvm::Target* const x86 = llvm::TargetRegistry::lookupTarget(kTriple, error);
  KIRSCH_CHECK(x86 != nullptr);
  // Asked of a subtarget without a CPU, which knows the names of all.
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(x86->createMCSubtargetInfo(kTriple, "", ""));
  return subtarget->isCPUStringValid(name);
}

}  // namespace kirsch
