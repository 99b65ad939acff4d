#include "tools/family.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "spec/text/cat.h"
#include "spec/text/schedule.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

// What families say of their members, whichever these are.
struct Facts {
  std::string name;
  StopReason stop;
  int64_t specs;
  double seconds, cycles, gflops;
};

Facts FactsOf(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  return {synthesis.parsed.text, result.stop,           result.stats.specs_solved,
          result.seconds,        ToCycles(result.cost), PredictedGflops(synthesis)};
}
Facts FactsOf(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  return {result.plan.graph.name,    result.optimal ? StopReason::kOptimal : StopReason::kBudget,
          result.stats.specs_solved, result.seconds,
          result.plan.cycles,        PredictedGflops(synthesis)};
}
Facts FactsOf(const Member& member) {
  return std::visit([](const auto& synthesis) { return FactsOf(synthesis); }, member);
}

std::string DecisionOf(const Synthesis& synthesis) {
  return DecisionSpine(synthesis.result.impl, synthesis.parsed.swapped);
}
std::string DecisionOf(const GraphSynthesis& synthesis) { return PlanOutline(synthesis.result.plan); }

std::string ProgramText(const Synthesis& synthesis) { return PrintSchedule(synthesis.result.impl); }
std::string ProgramText(const GraphSynthesis& synthesis) { return PrintPlan(synthesis.result.plan); }
std::string ProgramText(const Member& member) {
  return std::visit([](const auto& synthesis) { return ProgramText(synthesis); }, member);
}

const Member& Largest(const FamilySynthesis& synthesis, const Region& region) {
  return synthesis.members[static_cast<size_t>(region.largest())];
}

const char* ProgramWord(const FamilySynthesis& synthesis) {
  return synthesis.is_graph() ? "plan" : "schedule";
}

// Of all members together; the worst reason to stop of any.
struct SearchEffort {
  StopReason stop = StopReason::kOptimal;
  int64_t specs = 0;
  double seconds = 0;
};

SearchEffort EffortOf(const FamilySynthesis& synthesis) {
  SearchEffort effort;
  for (const Member& member : synthesis.members) {
    const Facts facts = FactsOf(member);
    effort.stop = std::max(effort.stop, facts.stop);
    effort.specs += facts.specs;
    effort.seconds += facts.seconds;
  }
  return effort;
}

absl::Status CheckRequest(const SolveArguments& arguments, const KernelRequest& request) {
  const int64_t count = request.count();
  if (request.graph) return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
  if (count > kMostMembers)
    return absl::InvalidArgumentError(
        Cat("SPEC: expected a family of at most ", kMostMembers, " sizes, got ", count));
  if (count > 1 && ConstantOperand(request.family.member(0).spec) >= 0)
    return absl::InvalidArgumentError(
        "SPEC: expected a single size where an operand is constant (each size packs it in a way of its own)");
  return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
}

absl::StatusOr<Member> SolveMember(SolveArguments arguments, const KernelRequest& request, int64_t i,
                                   const Target& target, const std::shared_ptr<Memo>& memo,
                                   SearchBudget& budget) {
  if (request.graph) {
    absl::StatusOr<GraphSynthesis> solved =
        SolveGraph(arguments, request.graph->member(i), request.source, target, memo, budget);
    if (!solved.ok() && request.count() > 1)
      return absl::Status(solved.status().code(), Cat(std::string(solved.status().message()), " (for ",
                                                      MemberText(request.sizes(), i), ")"));
    if (!solved.ok()) return solved.status();
    return *std::move(solved);
  }
  arguments.time_budget = budget.Left();
  absl::StatusOr<Synthesis> solved = Solve(arguments, request.family.member(i), target, memo);
  if (!solved.ok()) return solved.status();
  if (solved->result.stop == StopReason::kCancelled) budget.End();
  return *std::move(solved);
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
  const Facts facts = FactsOf(synthesis.members[i]);
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

const Target& FamilySynthesis::target() const {
  return std::visit([](const auto& synthesis) -> const Target& { return synthesis.target; }, members.front());
}

absl::Status NotPinned() {
  return absl::InvalidArgumentError("--schedule: expected a single kernel for a single target to follow it");
}

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget) {
  if (absl::Status status = CheckRequest(arguments, request); !status.ok()) return status;
  FamilySynthesis synthesis{request, {}, {request.sizes(), {}, {}}};
  std::vector<std::string> decisions;
  for (int64_t i = 0; i < request.count(); ++i) {
    SolveArguments own = arguments;
    if (request.count() > 1) Append(&own.progress, "member ", i + 1, " of ", request.count(), ", ");
    TerminalLine line;
    line.Show(own.progress + "searching");
    absl::StatusOr<Member> solved = SolveMember(own, request, i, target, memo, budget);
    if (!solved.ok()) return solved.status();
    decisions.push_back(std::visit([](const auto& member) { return DecisionOf(member); }, *solved));
    synthesis.regions.gflops.push_back(FactsOf(*solved).gflops);
    synthesis.members.push_back(*std::move(solved));
  }
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, decisions);
  return synthesis;
}

std::string RegionPrograms(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return ProgramText(synthesis.members.front());
  std::string text;
  for (const Region& region : synthesis.regions.list) {
    const Member& largest = Largest(synthesis, region);
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the ",
           ProgramWord(synthesis), " of ", FactsOf(largest).name, "\n", ProgramText(largest));
  }
  return text;
}

nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1)
    return std::visit([](const auto& only) { return SynthesisJson(only); }, synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json[synthesis.is_graph() ? "kernel" : "spec"] = synthesis.request.text();
  json["target"] = synthesis.target().name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {
      {"seconds", effort.seconds}, {"stop", std::string(Name(effort.stop))}, {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const Region& region : synthesis.regions.list) {
    nlohmann::ordered_json entry = RegionJson(synthesis.regions, region);
    entry[ProgramWord(synthesis)] = ProgramText(Largest(synthesis, region));
    json["regions"].push_back(std::move(entry));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < synthesis.members.size(); ++i) json["kernels"].push_back(MemberJson(synthesis, i));
  return json;
}

void PrintSummary(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1)
    return std::visit([](const auto& only) { PrintSummary(only); }, synthesis.members.front());
  const SearchEffort effort = EffortOf(synthesis);
  std::fprintf(stderr, "%s on %s: %zu members, %zu regions; %s; %lld specs in %.3f s\n%s",
               Title(synthesis.request).c_str(), synthesis.target().name.c_str(), synthesis.members.size(),
               synthesis.regions.list.size(), std::string(Name(effort.stop)).c_str(),
               static_cast<long long>(effort.specs), effort.seconds, RegionTable(synthesis.regions).c_str());
}

}  // namespace kirsch
