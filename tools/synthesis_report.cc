// SPDX-License-Identifier: Apache-2.0
#include "tools/synthesis_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/program/plan_program.h"
#include "spec/text/cat.h"
#include "synthesis/shared_packing.h"
#include "tools/output.h"
#include "tools/prediction.h"

namespace kirsch {
namespace {

// "F(4x4,3x3)" for each convolution by Winograd's algorithm.
std::vector<std::string> WinogradNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& [node, tile] : WinogradConvolutions(plan)) names.push_back(WinogradName(tile));
  return names;
}

nlohmann::ordered_json PackingJson(const Synthesis& synthesis) {
  const double saved = synthesis.unpacked_cycles - ToCycles(synthesis.result.cost);
  nlohmann::ordered_json json = {{"pack_cycles", synthesis.pack_cycles},
                                 {"unpacked_cycles", synthesis.unpacked_cycles},
                                 {"pays_from_call", nullptr}};
  if (saved > 0) json["pays_from_call"] = static_cast<int64_t>(std::ceil(synthesis.pack_cycles / saved));
  return json;
}

nlohmann::ordered_json Json(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  nlohmann::ordered_json json;
  json["spec"] = synthesis.parsed.text;
  json["target"] = synthesis.target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", result.seconds},
                    {"stop", std::string(StopName(synthesis))},
                    {"specs_solved", result.stats.specs_solved},
                    {"memo_hits", result.stats.memo_hits},
                    {"pruned", result.stats.pruned},
                    {"bound_cycles", ToCycles(result.bound)},
                    {"from_table", result.from_table},
                    {"table_seconds", result.table_seconds}};
  json["cost_cycles"] = ToCycles(result.cost);
  json["predicted_gflops"] = PredictedGflops(synthesis);
  if (synthesis.pack_cycles > 0) json["packing"] = PackingJson(synthesis);
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintSchedule(result.impl);
  return json;
}

nlohmann::ordered_json Json(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  nlohmann::ordered_json json;
  json["kernel"] = PrintGraph(result.plan.graph);
  json["target"] = synthesis.target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", result.seconds},           {"stop", std::string(StopName(synthesis))},
                    {"bound_cycles", result.bound_cycles}, {"specs_solved", result.stats.specs_solved},
                    {"memo_hits", result.stats.memo_hits}, {"pruned", result.stats.pruned}};
  json["cost_cycles"] = result.plan.cycles;
  json["predicted_gflops"] = PredictedGflops(synthesis);
  json["winograd"] = WinogradNames(result.plan);
  const Program program = ProgramOf(result.plan, synthesis.target);
  if (result.plan.graph.HasConstants()) json["packed_bytes"] = program.packed_bytes;
  json["buffer_bytes"] = program.own_bytes;
  json["shared_bytes"] = program.shared_bytes;
  json["phases"] = result.plan.phases();
  if (synthesis.tuned) json["tuned"] = synthesis.tuned->ToJson();
  json["schedule"] = PrintPlanSchedule(result.plan);
  json["plan"] = PrintPlan(result.plan) + PrintMemory(program);
  return json;
}

// Of constants that all members have packed alike.
std::string PackedTextOf(const FamilySynthesis& synthesis) {
  const Target& target = synthesis.target();
  if (synthesis.is_graph())
    return PackedText(synthesis.shares() ? synthesis.plans.front() : synthesis.graph(0).result.plan, target);
  return PackedText(synthesis.shares() ? synthesis.shared.front() : synthesis.spec(0).result.impl, target);
}

// A shorthand as it is; "mlp[m = 1..64]" of a kernel in the kernel language.
std::string Title(const KernelRequest& request) {
  const std::string line(absl::StripSuffix(request.text(), "\n"));
  if (line.find('\n') == std::string::npos) return line;
  const std::string sizes =
      absl::StrJoin(request.sizes(), ", ", [](std::string* text, const VaryingSize& size) {
        Append(text, size.name, " = ", PrintValues(size.values));
      });
  return Cat(request.graph->name(), "[", sizes, "]");
}

nlohmann::ordered_json MemberJson(const FamilySynthesis& synthesis, size_t i) {
  const MemberFacts facts = FactsOf(synthesis.members[i]);
  const std::vector<VaryingSize>& sizes = synthesis.regions.sizes;
  nlohmann::ordered_json json;
  if (!synthesis.is_graph()) json["spec"] = facts.name;
  for (size_t size = 0; synthesis.is_graph() && size < sizes.size(); ++size)
    json[sizes[size].name] = ValuesOf(sizes, static_cast<int64_t>(i))[size];
  json["cost_cycles"] = facts.cycles;
  json["predicted_gflops"] = facts.gflops;
  if (synthesis.is_graph()) json["phases"] = synthesis.graph(i).result.plan.phases();
  return json;
}

}  // namespace

void PrintSummary(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  const Target& target = synthesis.target;
  const Prediction prediction =
      PredictionOf(result.impl, ToCycles(result.cost), Flops(synthesis.parsed.spec), target);
  std::fprintf(stderr, "%s on %s: %s; %s, bound %.0f; %s in %.3f s%s\n", synthesis.parsed.text.c_str(),
               target.name.c_str(), PredictionText(prediction, target).c_str(),
               std::string(StopName(synthesis)).c_str(), ToCycles(result.bound),
               (result.from_table ? "from the table" : Cat(result.stats.specs_solved, " specs")).c_str(),
               result.seconds, PackedText(result.impl, target).c_str());
  if (synthesis.tuned) std::fprintf(stderr, "%s\n", synthesis.tuned->Summary().c_str());
}

void PrintSummary(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  const std::vector<std::string> winograd = WinogradNames(result.plan);
  std::fprintf(stderr, "%s on %s: %s; %s, bound %.0f; %d specs in %.3f s%s%s\n",
               result.plan.graph.name.c_str(), synthesis.target.name.c_str(),
               PredictionText(PredictionOf(result.plan, synthesis.target), synthesis.target).c_str(),
               std::string(StopName(synthesis)).c_str(), result.bound_cycles,
               static_cast<int>(result.stats.specs_solved), result.seconds,
               winograd.empty() ? "" : Cat("; by Winograd's algorithm, ", Join(winograd, " ")).c_str(),
               PackedText(result.plan, synthesis.target).c_str());
  if (synthesis.tuned) std::fprintf(stderr, "%s\n", synthesis.tuned->Summary().c_str());
}

void PrintSummary(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1)
    return std::visit([](const auto& only) { PrintSummary(only); }, synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  const Target& target = synthesis.target();
  const size_t regions = synthesis.regions.list.size();
  std::fprintf(stderr,
               "%s on %s: %zu members, %zu region%s; %s; %lld specs in %.3f s; predicted at %s%s%s\n%s",
               Title(synthesis.request).c_str(), target.name.c_str(), synthesis.members.size(), regions,
               regions == 1 ? "" : "s", std::string(Name(effort.stop)).c_str(),
               static_cast<long long>(effort.specs), effort.seconds, ModelText(target).c_str(),
               CalibrationText(target).c_str(), PackedTextOf(synthesis).c_str(),
               Cat(SharedCopyText(synthesis), RegionTable(synthesis.regions)).c_str());
}

void PrintLeftOut(const Library& library, const HeaderFile& file) {
  for (const Target& target : library.targets) {
    const std::string& name = target.name;
    const auto without =
        std::count_if(file.functions.begin(), file.functions.end(), [&](const HeaderFunction& function) {
          return std::none_of(function.variants.begin(), function.variants.end(),
                              [&](const HeaderVariant& variant) { return variant.target.name == name; });
        });
    if (without > 0)
      PrintRemark(Cat(without, " of ", file.functions.size(), " kernels without code for ", name,
                      ": wherever that runs, another target's, which is tried before, does too"));
  }
}

nlohmann::ordered_json RegionJson(const Regions& regions, const DispatchRange& region) {
  nlohmann::ordered_json json;
  for (size_t i = 0; i < region.box.size(); ++i)
    json[regions.sizes[i].name] = {region.box[i].low, region.box[i].high};
  const auto [least, most] = RatesOf(regions, region);
  json["kernels"] = region.members.size();
  json["decision"] = region.decision;
  json["predicted_gflops"] = {least, most};
  if (regions.losses.empty()) return json;
  const RegionLoss loss = LossOf(regions, region);
  json["loss"] = {{"known", loss.known}, {"exact", loss.exact}, {"mean", nullptr}, {"largest", nullptr}};
  if (loss.known == 0) return json;
  json["loss"]["mean"] = loss.mean;
  json["loss"]["largest"] = loss.largest;
  return json;
}

nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1)
    return std::visit([](const auto& only) { return Json(only); }, synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json[synthesis.is_graph() ? "kernel" : "spec"] = synthesis.request.text();
  json["target"] = synthesis.target().name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {
      {"seconds", effort.seconds}, {"stop", std::string(Name(effort.stop))}, {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const DispatchRange& region : synthesis.regions.list) {
    nlohmann::ordered_json entry = RegionJson(synthesis.regions, region);
    entry[synthesis.program_word()] = ProgramText(LargestMember(synthesis, region));
    json["regions"].push_back(std::move(entry));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < synthesis.members.size(); ++i) json["kernels"].push_back(MemberJson(synthesis, i));
  if (!synthesis.shared_copy && !synthesis.packing) return json;
  const SharedCopyFacts copy = SharedCopyFactsOf(synthesis);
  json["shared_copy"] = {{"layout", copy.layout}, {"mixture", copy.mixture}, {"loss", copy.loss}};
  return json;
}

nlohmann::ordered_json LibraryJson(const Library& library) {
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
