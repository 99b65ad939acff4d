// SPDX-License-Identifier: Apache-2.0
// What a synthesis found: for people, on standard error, and as JSON.
#ifndef KIRSCH_TOOLS_SYNTHESIS_REPORT_H_
#define KIRSCH_TOOLS_SYNTHESIS_REPORT_H_

#include <nlohmann/json_fwd.hpp>

#include "codegen/header/header_file.h"
#include "synthesis/family.h"
#include "synthesis/kernel_library.h"

namespace kirsch {

// One line: what was found, how good it should be, how long it took.
void PrintSummary(const Synthesis& synthesis);
// The same; of several members, with the table of regions.
void PrintSummary(const FamilySynthesis& synthesis);

// Which kernels' code for which targets is not in `file`, as it would never be chosen.
void PrintLeftOut(const Library& library, const HeaderFile& file);

// {<size>: [low, high] for each that varies, kernels, decision, predicted_gflops: [least, most]};
// if there are losses, loss: {known: of so many members, exactly: of these, mean, largest (null where none is
// known)}
nlohmann::ordered_json RegionJson(const Regions& regions, const DispatchRange& region);

// Of a spec: spec, target, version, search, cost_cycles, predicted_gflops, schedule; for a constant operand
// also packing: {pack_cycles, unpacked_cycles, pays_from_call} (null where it never does). Of a graph:
// kernel, target, version, search, cost_cycles, predicted_gflops, winograd, packed_bytes of the constants,
// buffer_bytes and shared_bytes of the plan, its phases, schedule, plan: its text for people. Of several
// members: spec (kernel), target, version, search, members (their number), regions (see RegionJson; schedule
// (plan): that of the largest member), kernels: [{spec, or <size> for each that varies, cost_cycles,
// predicted_gflops, and of graphs phases}]; of constants shared_copy: {layout, mixture (text; "": evenly),
// loss}.
nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis);

// For one kernel and one target, that of the family or the spec. Else {name, version, kernels: [{name, and
// the keys of the family or the spec}, one for each kernel and target]}.
nlohmann::ordered_json LibraryJson(const Library& library);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SYNTHESIS_REPORT_H_
