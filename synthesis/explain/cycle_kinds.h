// SPDX-License-Identifier: Apache-2.0
// Sorts the cycles of a program or plan into a few kinds, so that people see where the time goes: "register
// tiles 97.1%, loops 2.9%". Each node or stage counts for one kind, by its decision.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_

#include <string>
#include <vector>

#include "spec/decision.h"
#include "spec/program/plan.h"
#include "synthesis/explain/explained.h"

namespace kirsch {

// The order is that of the colours of a page's boxes.
enum CycleKind {
  kTileCycles,      // microkernels
  kRegisterCycles,  // moves of tiles into vector registers
  kCacheCycles,     // moves into caches
  kCopyCycles,      // packs, and stages that transform
  kLoopCycles,      // loops, also those that threads share
  kRowCycles,       // row programs
  kWholePlan        // of a plan: what no stage accounts for, as threads that wait
};

// The names for people, indexed by CycleKind. They name the colours of a page's boxes, and the series of its
// bars.
const std::vector<std::string>& CycleKinds();

CycleKind CycleKindOf(const Decision& decision);
CycleKind CycleKindOf(StageKind kind);

// The cycles of a program or plan, indexed by CycleKind.
std::vector<double> CyclesByKind(const std::vector<ExplainedNode>& nodes);
std::vector<double> CyclesByKind(const ExplainedPlan& plan);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_
