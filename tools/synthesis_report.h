// SPDX-License-Identifier: Apache-2.0
// Reports what a synthesis found: for people, on standard error, and as JSON. docs/json/synth.schema.json
// describes the JSON.
#ifndef KIRSCH_TOOLS_SYNTHESIS_REPORT_H_
#define KIRSCH_TOOLS_SYNTHESIS_REPORT_H_

#include <nlohmann/json_fwd.hpp>

#include "codegen/header/header_file.h"
#include "synthesis/family.h"
#include "synthesis/kernel_library.h"

namespace kirsch {

// One line: what was found, how good it should be, how long it took.
//   matmul f32 64x64x64 on haswell: 18419 cycles, 5.417 us at 3.4 GHz, 96.8 GFLOP/s predicted, 89 % of the
//   modelled peak; optimal, bound 18419; 846 specs in 0.018 s
void PrintSummary(const Synthesis& synthesis);
// The same. Of several members, a line on all of them, and the table of regions:
//   matmul f32 1..64x64x64 on haswell: 64 members, 4 regions; optimal; 1080 specs in 0.022 s; predicted at
//   3.4 GHz
void PrintSummary(const FamilySynthesis& synthesis);

// Says which kernels have no code for which targets in `file`: another target's code would always be chosen
// before.
void PrintLeftOut(const Library& library, const HeaderFile& file);

// A region of a family:
//   {<size>: [low, high] for each that varies, kernels, decision, predicted_gflops: [least, most]}
//
// If there are losses, also loss: {known: of so many members, exact: of these, mean, largest}. The last two
// are null if no loss is known.
nlohmann::ordered_json RegionJson(const Regions& regions, const Region& region);

// The answer to one request. The keys depend on what it is:
//   spec      spec, target, version, search, tuned if it was, cost_cycles, predicted_gflops, schedule; for a
//   constant operand
//             also packing: {pack_cycles, unpacked_cycles, pays_from_call}
//   graph     kernel, target, version, search, tuned if it was, cost_cycles, predicted_gflops, winograd,
//   packed_bytes of the
//             constants, buffer_bytes and shared_bytes of the plan, phases, schedule, plan (for people)
//   family    spec (kernel), target, version, search, members (their number), regions, kernels: [{spec, or
//             <size> for each that varies, cost_cycles, predicted_gflops, and of graphs phases}];
//             of constants shared_copy: {layout, mixture (text; "": size n 1/n as often), loss}
//
// `pays_from_call` is null if packing never pays. Regions are as by RegionJson, with the schedule (plan) of
// their last member.
nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis);

// For one kernel and one target, FamilyJson. Else {name, version, kernels}, with an entry for each kernel and
// target: its name, and the keys of FamilyJson.
nlohmann::ordered_json LibraryJson(const Library& library);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SYNTHESIS_REPORT_H_
