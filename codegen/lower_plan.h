// Plan -> loop program.
#ifndef KIRSCH_CODEGEN_LOWER_PLAN_H_
#define KIRSCH_CODEGEN_LOWER_PLAN_H_

#include <string>

#include "codegen/loop_program.h"
#include "spec/plan.h"
#include "spec/target.h"

namespace kirsch {

// The program of a graph's kernel, its entry called `name` (a C identifier), with the parameters of
// LoopProgram::tensors: the graph's parameters by their names, then `out`, each with `_` behind it where the
// entry's own are called so. Thread-safe.
LoopProgram LowerPlan(const Plan& plan, const Target& target, const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOWER_PLAN_H_
