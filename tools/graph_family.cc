#include "tools/graph_family.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "codegen/family_header.h"
#include "spec/cat.h"
#include "spec/identifier.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

const GraphSynthesis& Largest(const GraphFamilySynthesis& synthesis, const Region& region) {
  return synthesis.members[static_cast<size_t>(region.largest())];
}

// A shorthand as it is; "mlp[m = 1..64]" of a kernel in the kernel language.
std::string Title(const GraphFamily& family) {
  const std::string line(absl::StripSuffix(family.text(), "\n"));
  if (line.find('\n') == std::string::npos) return line;
  const std::string sizes =
      absl::StrJoin(family.sizes(), ", ", [](std::string* text, const VaryingSize& size) {
        Append(text, size.name, " = ", PrintValues(size.values));
      });
  return Cat(family.name(), "[", sizes, "]");
}

struct SearchEffort {
  int64_t specs = 0;
  double seconds = 0;
  bool optimal = true;
};

SearchEffort EffortOf(const GraphFamilySynthesis& synthesis) {
  SearchEffort effort;
  for (const GraphSynthesis& member : synthesis.members) {
    effort.specs += member.result.stats.specs_solved;
    effort.seconds += member.result.seconds;
    effort.optimal &= member.result.optimal;
  }
  return effort;
}

std::string StopText(const SearchEffort& effort) {
  return std::string(Name(effort.optimal ? StopReason::kOptimal : StopReason::kBudget));
}

std::string RegionPlans(const GraphFamilySynthesis& synthesis) {
  std::string text;
  for (const Region& region : synthesis.regions.list) {
    const Plan& plan = Largest(synthesis, region).result.plan;
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the plan of ",
           plan.graph.name, "\n", PrintPlan(plan));
  }
  return text;
}

MemberPlans PlansOf(const GraphFamilySynthesis& synthesis) {
  MemberPlans plans;
  for (const GraphSynthesis& member : synthesis.members) plans.push_back(&member.result.plan);
  return plans;
}

HeaderVariant VariantOf(const std::string& name, const GraphFamilySynthesis& synthesis) {
  const MemberPlans plans = PlansOf(synthesis);
  HeaderVariant variant{synthesis.target(), LowerMembers(name, synthesis.family, plans, synthesis.target()),
                        0, 0, ""};
  if (synthesis.family.count() > 1) {
    variant.notes = Cat("Sizes whose plans compute the same things together, and what these are:\n\n",
                        RegionPlans(synthesis));
  } else {
    variant.cycles = plans.front()->cycles;
    variant.gflops = PredictedGflops(synthesis.members.front());
    variant.notes = PrintPlan(*plans.front());
  }
  return variant;
}

}  // namespace

absl::StatusOr<GraphFamilySynthesis> SolveGraphFamily(const SolveArguments& arguments,
                                                      const GraphFamily& family, const std::string& source,
                                                      const Target& target, const std::shared_ptr<Memo>& memo,
                                                      SearchBudget& budget) {
  if (!arguments.schedule.empty() && family.count() > 1)
    return absl::InvalidArgumentError(
        "--schedule: expected a single kernel for a single target to follow it");
  GraphFamilySynthesis synthesis{family, {}, {family.sizes(), {}, {}}};
  std::vector<std::string> outlines;
  for (int64_t i = 0; i < family.count(); ++i) {
    SolveArguments own = arguments;
    if (family.count() > 1) Append(&own.progress, "member ", i + 1, " of ", family.count(), ", ");
    TerminalLine line;
    line.Show(own.progress + "searching");
    absl::StatusOr<GraphSynthesis> solved = SolveGraph(own, family.member(i), source, target, memo, budget);
    if (!solved.ok() && family.count() > 1)
      return absl::Status(solved.status().code(), Cat(std::string(solved.status().message()), " (for ",
                                                      MemberText(family.sizes(), i), ")"));
    if (!solved.ok()) return solved.status();
    outlines.push_back(PlanOutline(solved->result.plan));
    synthesis.regions.gflops.push_back(PredictedGflops(*solved));
    synthesis.members.push_back(*std::move(solved));
  }
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, outlines);
  return synthesis;
}

HeaderFunction FunctionOf(const std::string& name, const std::vector<GraphFamilySynthesis>& targets) {
  std::vector<MemberPlans> plans;
  std::vector<HeaderVariant> variants;
  for (const GraphFamilySynthesis& synthesis : targets) {
    const std::string& target = synthesis.target().name;
    plans.push_back(PlansOf(synthesis));
    variants.push_back(
        VariantOf(targets.size() > 1 ? Cat(name, "_", IdentifierOf(target)) : name, synthesis));
  }
  HeaderFunction function = FunctionOf(name, targets.front().family, plans);
  function.variants = BestFirst(std::move(variants));
  // Without another to choose from, it is the function itself.
  if (targets.size() > 1 && !function.dispatched())
    for (const GraphFamilySynthesis& synthesis : targets)
      if (synthesis.target().name == function.variants.front().target.name)
        function.variants = {VariantOf(name, synthesis)};
  return function;
}

nlohmann::ordered_json GraphFamilyJson(const GraphFamilySynthesis& synthesis) {
  if (synthesis.family.count() == 1) return GraphJson(synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json["kernel"] = synthesis.family.text();
  json["target"] = synthesis.target().name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", effort.seconds}, {"stop", StopText(effort)}, {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const Region& region : synthesis.regions.list) {
    nlohmann::ordered_json entry = RegionJson(synthesis.regions, region);
    entry["plan"] = PrintPlan(Largest(synthesis, region).result.plan);
    json["regions"].push_back(std::move(entry));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < synthesis.members.size(); ++i) {
    const GraphSynthesis& member = synthesis.members[i];
    const std::vector<VaryingSize>& sizes = synthesis.family.sizes();
    const std::vector<uint32_t> values = ValuesOf(sizes, static_cast<int64_t>(i));
    nlohmann::ordered_json entry;
    for (size_t size = 0; size < sizes.size(); ++size) entry[sizes[size].name] = values[size];
    entry["cost_cycles"] = member.result.plan.cycles;
    if (member.result.unfused_cycles) entry["unfused_cycles"] = *member.result.unfused_cycles;
    entry["predicted_gflops"] = PredictedGflops(member);
    entry["phases"] = member.result.plan.phases();
    json["kernels"].push_back(std::move(entry));
  }
  return json;
}

void PrintGraphFamilySummary(const GraphFamilySynthesis& synthesis) {
  if (synthesis.family.count() == 1) return PrintGraphSummary(synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  std::fprintf(stderr, "%s on %s: %zu members, %zu regions; %s; %lld specs in %.3f s\n%s",
               Title(synthesis.family).c_str(), synthesis.target().name.c_str(), synthesis.members.size(),
               synthesis.regions.list.size(), StopText(effort).c_str(), static_cast<long long>(effort.specs),
               effort.seconds, RegionTable(synthesis.regions).c_str());
}

std::string ExplainedGraphFamily(const GraphFamilySynthesis& synthesis) {
  if (synthesis.family.count() == 1) return ExplainedGraph(synthesis.members.front());
  std::string text = Cat(synthesis.family.text(), "\n", RegionTable(synthesis.regions));
  for (const Region& region : synthesis.regions.list)
    Append(&text, "\n", ExplainedGraph(Largest(synthesis, region)));
  return text;
}

}  // namespace kirsch
