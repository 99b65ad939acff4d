// SPDX-License-Identifier: Apache-2.0
// What the cycles of a program or plan go to, by kind.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_

#include <string>
#include <vector>

#include "spec/decision.h"
#include "spec/program/plan.h"
#include "synthesis/explain/explained.h"

namespace kirsch {

enum CycleKind {
  kTileCycles,
  kRegisterCycles,
  kCacheCycles,
  kCopyCycles,
  kLoopCycles,
  kRowCycles,
  kWholePlan
};

// Indexed by CycleKind: the colours of a page's boxes, and the series of its bars.
const std::vector<std::string>& CycleKinds();

CycleKind CycleKindOf(const Decision& decision);
CycleKind CycleKindOf(StageKind kind);

// The program's cycles, indexed by CycleKind.
std::vector<double> CyclesByKind(const std::vector<ExplainedNode>& nodes);
std::vector<double> CyclesByKind(const ExplainedPlan& plan);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_CYCLE_KINDS_H_
