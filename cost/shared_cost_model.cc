// SPDX-License-Identifier: Apache-2.0
#include "cost/shared_cost_model.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace kirsch {

std::shared_ptr<const CostModel> SharedCostModel(const Target& target) {
  using Models = std::vector<std::shared_ptr<const CostModel>>;
  constexpr size_t kMostKept = 4;
  if (target.extension != nullptr) return std::make_shared<CostModel>(target);
  static std::mutex mutex;
  static Models& kept = *new Models;  // the last one asked for comes last
  const std::lock_guard<std::mutex> lock(mutex);
  auto found =
      std::find_if(kept.begin(), kept.end(), [&](const auto& model) { return model->target() == target; });
  if (found == kept.end()) {
    if (kept.size() == kMostKept) kept.erase(kept.begin());
    found = kept.insert(kept.end(), std::make_shared<CostModel>(target));
  }
  std::rotate(found, found + 1, kept.end());
  return kept.back();
}

}  // namespace kirsch
