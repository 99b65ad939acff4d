#include "codegen/host_cpu.h"

#include <algorithm>

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace kirsch {

const HostCpu& DetectHostCpu() {
  static const HostCpu* const host = [] {
    auto* detected = new HostCpu{llvm::sys::getHostCPUName().str(), {}};
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      if (feature.getValue()) detected->features.push_back(feature.getKey().str());
    std::sort(detected->features.begin(), detected->features.end());
    return detected;
  }();
  return *host;
}

std::string FirstMissing(const std::vector<std::string>& features,
                         const std::vector<std::string>& available) {
  for (const std::string& feature : features)
    if (!std::binary_search(available.begin(), available.end(), feature)) return feature;
  return "";
}

std::string MissingOnHost(const std::vector<std::string>& features) {
  return FirstMissing(features, DetectHostCpu().features);
}

}  // namespace kirsch
