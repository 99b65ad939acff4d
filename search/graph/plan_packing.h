// SPDX-License-Identifier: Apache-2.0
// How a plan packs the constant parameters of its graph; and that plans of several graphs, the members of a
// family, which have the same ones, pack them alike.
#ifndef KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_
#define KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "spec/decision.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// What is made of a constant parameter ahead of all calls, each as text: "512x2048 row as packed16 f32".
// Copies whose text is the same are the same bytes, whatever the other sizes of the kernels that read them.
using CopiesOfConstant = std::set<std::string>;

// By the numbers of the parameters; of those that it lacks nothing is said.
using PlanPacking = std::map<int, CopiesOfConstant>;

// The copy of a parameter as its caller has it.
inline constexpr std::string_view kPlainCopy = "as it is";

// What a stage makes ahead.
std::string TextOfCopy(const Stage& prepack);
// The same of one that packs (kPack), if `pack` were its decision.
std::string TextOfCopy(const Stage& prepack, const Decision& pack, const Target& target);

// All that the plan packs, of each parameter that is constant.
PlanPacking PackingOf(const Plan& plan);

// The operations of the plan's graph that are constant-folded, ascending.
std::vector<int> FoldedOperations(const Plan& plan);

// "w 512x2048 row as packed16 f32; b as it is", of what is computed ahead "cast(w)" instead of a name.
std::string PrintPacking(const PlanPacking& packing, const Graph& graph);

// Gives all plans one packed buffer: what any of them reads is in it, each copy once, in the same place. The
// graphs have the same constant parameters.
void SharePacking(absl::Span<Plan* const> plans);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PLAN_PACKING_H_
