// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/kept_rows.h"

#include "rewrites/graph/row_schedules.h"

namespace kirsch {

bool KeptRows::Rows::MayReplaceFirst(size_t input) {
  std::optional<bool>& known = may_replace_[input];
  if (!known) known = MayReplace(fused_.program, 0, static_cast<int>(input));
  return *known;
}

KeptRows::Rows& KeptRows::Fuse(const std::vector<int>& nodes, const std::vector<int>& wanted,
                               const IterationSpace& space) {
  const auto [known, is_new] = known_.try_emplace({nodes, wanted, space});
  Rows& rows = known->second;
  if (is_new) {
    rows.fused_ = FuseRows(uses_, nodes, wanted, space, &rows.error_);
    rows.may_replace_.resize(rows.fused_.inputs.size());
  }
  return rows;
}

}  // namespace kirsch
