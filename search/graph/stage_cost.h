// SPDX-License-Identifier: Apache-2.0
// Prices the stages of plans that need no search: row programs, copies of images, transposes and transforms.
#ifndef KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
#define KIRSCH_SEARCH_GRAPH_STAGE_COST_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spec/level.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Fills in the cycles and the traffic of such a stage, and the cheapest schedule of a row program, or
// `pinned` if that isn't null. False: the pinned schedule is not in the space. `levels`: where the stage's
// operands are.
bool PriceStage(const std::vector<Level>& levels, const Target& target, const RowSchedule* pinned,
                Stage* stage);

// Prices stages without a pinned schedule, as PriceStage does, and keeps what row programs cost: the groups
// of a graph have few different ones, and so have the members of a family. Not thread-safe.
class StagePrices {
 public:
  explicit StagePrices(const Target& target) : target_(target) {}

  void Price(const std::vector<Level>& levels, Stage* stage);

 private:
  const Target& target_;
  absl::flat_hash_map<uint64_t, std::vector<Stage>> known_;  // priced, by hash
};

// The cycles of one run of a priced row program, with other numbers of rows and columns but the same
// schedule.
double RowCyclesFor(const Stage& stage, int64_t rows, int64_t columns, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
