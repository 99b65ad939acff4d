// SPDX-License-Identifier: Apache-2.0
#include "tools/synthesis_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "spec/program/plan_program.h"
#include "spec/text/cat.h"
#include "synthesis/shared_packing.h"
#include "tools/output.h"
#include "tools/prediction.h"

namespace kirsch {
namespace {

// "F(4x4,3x3)" for each convolution by Winograd's algorithm: users see where results are less exact.
std::vector<std::string> WinogradNames(const ProgramTree& program) {
  std::vector<std::string> names;
  if (const auto* const plan = std::get_if<Plan>(&program))
    for (const auto& [node, tile] : WinogradConvolutions(*plan)) names.push_back(WinogradName(tile));
  return names;
}

// What packing a constant operand costs and saves. It pays from the call on by which it has saved its cost.
//   pack_cycles 1484, a call saves 100 cycles   -->   pays_from_call 15
nlohmann::ordered_json PackingJson(const Synthesis& synthesis) {
  const double saved = synthesis.unpacked_cycles - synthesis.cycles;
  nlohmann::ordered_json json = {{"pack_cycles", synthesis.pack_cycles},
                                 {"unpacked_cycles", synthesis.unpacked_cycles},
                                 {"pays_from_call", nullptr}};
  if (saved > 0) json["pays_from_call"] = static_cast<int64_t>(std::ceil(synthesis.pack_cycles / saved));
  return json;
}

// The keys that reports of a spec and of a graph begin with. `key` says what `text` is.
nlohmann::ordered_json HeadJson(const char* key, const std::string& text, const Synthesis& synthesis,
                                nlohmann::ordered_json search) {
  return {{key, text},
          {"target", synthesis.target.name},
          {"version", KIRSCH_VERSION},
          {"search", std::move(search)},
          {"cost_cycles", synthesis.cycles},
          {"predicted_gflops", synthesis.gflops()}};
}

// The report of a single spec.
nlohmann::ordered_json Json(const Synthesis& synthesis, const Impl& impl) {
  const SearchStats& stats = synthesis.stats;
  nlohmann::ordered_json json = HeadJson("spec", synthesis.name, synthesis,
                                         {{"seconds", synthesis.seconds},
                                          {"stop", StopName(synthesis)},
                                          {"specs_solved", stats.specs_solved},
                                          {"memo_hits", stats.memo_hits},
                                          {"pruned", stats.pruned},
                                          {"bound_cycles", synthesis.bound_cycles},
                                          {"from_table", synthesis.from_table},
                                          {"table_seconds", synthesis.table_seconds}});
  if (synthesis.pack_cycles > 0) json["packing"] = PackingJson(synthesis);
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintSchedule(impl);
  return json;
}

// The report of a single graph. Its memory is that of the program that the plan makes.
nlohmann::ordered_json Json(const Synthesis& synthesis, const Plan& plan) {
  const SearchStats& stats = synthesis.stats;
  nlohmann::ordered_json json = HeadJson("kernel", PrintGraph(plan.graph), synthesis,
                                         {{"seconds", synthesis.seconds},
                                          {"stop", StopName(synthesis)},
                                          {"bound_cycles", synthesis.bound_cycles},
                                          {"specs_solved", stats.specs_solved},
                                          {"memo_hits", stats.memo_hits},
                                          {"pruned", stats.pruned}});
  json["winograd"] = WinogradNames(synthesis.program);
  const Program program = WriteProgram(plan, synthesis.target);
  if (plan.graph.HasConstants()) json["packed_bytes"] = program.packed_bytes;
  json["buffer_bytes"] = program.own_bytes;
  json["shared_bytes"] = program.shared_bytes;
  json["phases"] = plan.phases();
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintSchedule(synthesis.program);
  json["plan"] = PrintPlan(plan) + PrintMemory(program);
  return json;
}

// The title of a family: a shorthand as it is; "mlp[m = 1..64]" for a kernel of several lines.
std::string Title(const KernelRequest& request) {
  // A shorthand is one line; a kernel in the kernel language may have many.
  const std::string line(absl::StripSuffix(request.text(), "\n"));
  if (line.find('\n') == std::string::npos) return line;
  const std::string sizes = Join(request.sizes(), ", ", [](const VaryingSize& size) {
    return Cat(size.name, " = ", PrintValues(size));
  });
  return Cat(request.family.graphs()->name(), "[", sizes, "]");
}

// A member of a family. A spec says its sizes itself; a graph is named by them.
nlohmann::ordered_json MemberJson(const FamilySynthesis& synthesis, size_t i) {
  const Synthesis& member = synthesis.members[i];
  const std::vector<VaryingSize>& sizes = synthesis.regions.sizes;
  const auto* const plan = std::get_if<Plan>(&member.program);
  nlohmann::ordered_json json;
  if (plan == nullptr) json["spec"] = member.name;
  for (size_t size = 0; plan != nullptr && size < sizes.size(); ++size)
    json[sizes[size].name] = ValuesOf(sizes, static_cast<int64_t>(i))[size];
  json["cost_cycles"] = member.cycles;
  json["predicted_gflops"] = member.gflops();
  if (plan != nullptr) json["phases"] = plan->phases();
  return json;
}

}  // namespace

void PrintSummary(const Synthesis& synthesis) {
  const Target& target = synthesis.target;
  const std::vector<std::string> winograd = WinogradNames(synthesis.program);
  std::fprintf(
      stderr, "%s on %s: %s; %s, bound %.0f; %s in %.3f s%s%s\n", synthesis.name.c_str(), target.name.c_str(),
      PredictionText(MakePrediction(synthesis), target).c_str(), std::string(StopName(synthesis)).c_str(),
      synthesis.bound_cycles,
      (synthesis.from_table ? "from the table" : Cat(synthesis.stats.specs_solved, " specs")).c_str(),
      synthesis.seconds,
      winograd.empty() ? "" : Cat("; by Winograd's algorithm, ", Join(winograd, " ")).c_str(),
      PackedText(synthesis.program, target).c_str());
  if (synthesis.tuned) std::fprintf(stderr, "%s\n", synthesis.tuned->Summary().c_str());
}

void PrintSummary(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return PrintSummary(synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  const Target& target = synthesis.target();
  const size_t regions = synthesis.regions.list.size();
  // Where sizes are sampled, more members are served than were looked at.
  const int64_t served = CountServed(synthesis.regions.sizes);
  const auto looked_at = static_cast<int64_t>(synthesis.members.size());
  // All members have constants packed alike.
  const ProgramTree& program =
      synthesis.shares() ? synthesis.shared.front() : synthesis.members.front().program;
  std::fprintf(
      stderr, "%s on %s: %s, %zu region%s; %s; %lld specs in %.3f s; predicted at %s%s%s\n%s",
      Title(synthesis.request).c_str(), target.name.c_str(),
      Cat(served, " members", served > looked_at ? Cat(", of which ", looked_at, " were looked at") : "")
          .c_str(),
      regions, regions == 1 ? "" : "s", std::string(Name(effort.stop)).c_str(),
      static_cast<long long>(effort.specs), effort.seconds, ModelText(target).c_str(),
      CalibrationText(target).c_str(), PackedText(program, target).c_str(),
      Cat(SharedPackingText(synthesis), RegionTable(synthesis.regions)).c_str());
}

void PrintLeftOut(const Library& library, const HeaderFile& file) {
  for (const Target& target : library.targets) {
    const std::string& name = target.name;
    // A kernel lacks the target if none of the variants that are left is for it.
    const auto without = std::ranges::count_if(file.functions, [&](const HeaderFunction& function) {
      return std::ranges::none_of(function.variants,
                                  [&](const HeaderVariant& variant) { return variant.target.name == name; });
    });
    if (without > 0)
      PrintRemark(Cat(without, " of ", file.functions.size(), " kernels without code for ", name,
                      ": wherever that runs, another target's, which is tried before, does too"));
  }
}

nlohmann::ordered_json RegionJson(const Regions& regions, const Region& region) {
  nlohmann::ordered_json json;
  for (size_t i = 0; i < region.box.size(); ++i)
    json[regions.sizes[i].name] = {region.box[i].low, region.box[i].high};
  const auto [least, most] = RatesOf(regions, region);
  json["kernels"] = region.members.size();
  json["decision"] = region.decision;
  json["predicted_gflops"] = {least, most};
  // Members that share nothing lose nothing.
  if (regions.losses.empty()) return json;
  const RegionLoss loss = LossOf(regions, region);
  json["loss"] = {{"known", loss.known}, {"exact", loss.exact}, {"mean", nullptr}, {"largest", nullptr}};
  if (loss.known == 0) return json;
  json["loss"]["mean"] = loss.mean;
  json["loss"]["largest"] = loss.largest;
  return json;
}

nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis) {
  const Synthesis& first = synthesis.members.front();
  if (synthesis.members.size() == 1)
    return std::visit([&](const auto& program) { return Json(first, program); }, first.program);
  const SearchEffort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json[std::holds_alternative<Plan>(first.program) ? "kernel" : "spec"] = synthesis.request.text();
  json["target"] = synthesis.target().name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {
      {"seconds", effort.seconds}, {"stop", std::string(Name(effort.stop))}, {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const Region& region : synthesis.regions.list) {
    nlohmann::ordered_json entry = RegionJson(synthesis.regions, region);
    const ProgramTree& last = synthesis.last(region).program;
    // The key is "schedule" or "plan", by what the region has.
    entry[TreeName(last)] = PrintTree(last);
    json["regions"].push_back(std::move(entry));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < synthesis.members.size(); ++i) json["kernels"].push_back(MemberJson(synthesis, i));
  // The key is the same for graphs, whose packing may have several copies.
  if (const std::optional<SharedPacking>& packing = synthesis.packing)
    json["shared_copy"] = {
        {"layout", packing->layout}, {"mixture", packing->mixture}, {"loss", packing->loss}};
  return json;
}

nlohmann::ordered_json LibraryJson(const Library& library) {
  // A single answer stands at the top of the document.
  if (library.kernels.size() == 1 && library.targets.size() == 1)
    return FamilyJson(library.kernels.front().variants.front());
  nlohmann::ordered_json json = {
      {"name", library.name}, {"version", KIRSCH_VERSION}, {"kernels", nlohmann::ordered_json::array()}};
  for (const LibraryKernel& kernel : library.kernels)
    for (const FamilySynthesis& synthesis : kernel.variants) {
      nlohmann::ordered_json entry = {{"name", kernel.name()}};
      entry.update(FamilyJson(synthesis));
      json["kernels"].push_back(std::move(entry));
    }
  return json;
}

}  // namespace kirsch
