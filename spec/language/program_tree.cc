// SPDX-License-Identifier: Apache-2.0
#include "spec/program/program_tree.h"

#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"
#include "spec/program/plan_program.h"

namespace kirsch {
namespace {

// A tree is one or the other; the functions below ask this first.
const Plan* PlanOf(const ProgramTree& tree) { return std::get_if<Plan>(&tree); }
const Impl& ImplOf(const ProgramTree& tree) { return std::get<Impl>(tree); }

// The first contraction decides; a graph without one is of what it results in.
bool IsOfIntegers(const Graph& graph) {
  for (const GraphNode& node : graph.nodes)
    if (Info(node.op).kind == OperationKind::kContraction)
      return !IsFloating(graph.at(node.inputs.front()).type.dtype);
  return std::ranges::none_of(
      graph.results, [&](const GraphResult& result) { return IsFloating(graph.TypeOf(result).dtype); });
}

}  // namespace

Program WriteProgram(const ProgramTree& tree, const Target& target) {
  return PlanOf(tree) != nullptr ? WriteProgram(*PlanOf(tree), target) : WriteProgram(ImplOf(tree), target);
}

double Flops(const ProgramTree& tree) {
  return PlanOf(tree) != nullptr ? Flops(PlanOf(tree)->graph) : Flops(ImplOf(tree).spec);
}

bool IsOfIntegers(const ProgramTree& tree) {
  return PlanOf(tree) != nullptr ? IsOfIntegers(PlanOf(tree)->graph)
                                 : !IsFloating(ImplOf(tree).spec.operand[MatmulDims::kLhs].dtype);
}

std::string PrintSchedule(const ProgramTree& tree) {
  return PlanOf(tree) != nullptr ? PrintPlanSchedule(*PlanOf(tree)) : PrintSchedule(ImplOf(tree));
}

// A spec's schedule is readable as it is; that of a graph has decisions only, so people get the plan.
std::string PrintTree(const ProgramTree& tree) {
  return PlanOf(tree) != nullptr ? PrintPlan(*PlanOf(tree)) : PrintSchedule(ImplOf(tree));
}

const char* TreeName(const ProgramTree& tree) { return PlanOf(tree) != nullptr ? "plan" : "schedule"; }

}  // namespace kirsch
