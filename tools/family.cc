#include "tools/family.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "memo/hash_memo.h"
#include "spec/cat.h"
#include "spec/schedule.h"
#include "tools/target_option.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

const Synthesis& Largest(const FamilySynthesis& synthesis, const Region& region) {
  return synthesis.members[static_cast<size_t>(region.largest())];
}

// The worst reason of any member.
StopReason StopOf(const FamilySynthesis& synthesis) {
  StopReason stop = StopReason::kOptimal;
  for (const Synthesis& member : synthesis.members) stop = std::max(stop, member.result.stop);
  return stop;
}

struct SearchEffort {
  int64_t specs = 0;
  double seconds = 0;
};

SearchEffort EffortOf(const FamilySynthesis& synthesis) {
  SearchEffort effort;
  for (const Synthesis& member : synthesis.members) {
    effort.specs += member.result.stats.specs_solved;
    effort.seconds += member.result.seconds;
  }
  return effort;
}

}  // namespace

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget) {
  const int64_t count = family.count();
  if (count > kMostMembers)
    return absl::InvalidArgumentError(
        Cat("SPEC: expected a family of at most ", kMostMembers, " sizes, got ", count));
  if (count > 1 && ConstantOperand(family.member(0).spec) >= 0)
    return absl::InvalidArgumentError(
        "SPEC: expected a single size where an operand is constant (each size packs it in a way of its own)");
  if (!arguments.schedule.empty())
    return absl::InvalidArgumentError("--schedule: expected a single spec for a single target to follow it");
  FamilySynthesis synthesis{family, {}, {family.varying_sizes(), {}, {}}};
  std::vector<std::string> decisions;
  for (int64_t i = 0; i < count; ++i) {
    SolveArguments member = arguments;
    member.spec = family.member(i).text;
    if (count > 1) Append(&member.progress, "member ", i + 1, " of ", count, ", ");
    member.time_budget = budget.Left();
    TerminalLine line;
    line.Show(member.progress + "searching");
    absl::StatusOr<Synthesis> solved = Solve(member, target, memo);
    if (!solved.ok()) return solved.status();
    if (solved->result.stop == StopReason::kCancelled) budget.End();
    decisions.push_back(DecisionSpine(solved->result.impl, solved->parsed.swapped));
    synthesis.regions.gflops.push_back(PredictedGflops(*solved));
    synthesis.members.push_back(*std::move(solved));
  }
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, decisions);
  return synthesis;
}

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family) {
  absl::StatusOr<Target> target = LoadTarget(arguments.target);
  if (!target.ok()) return target.status();
  SearchBudget budget(arguments.time_budget);
  return SolveFamily(arguments, family, *target, std::make_shared<HashMemo>(), budget);
}

std::string RegionSchedules(const FamilySynthesis& synthesis) {
  std::string text;
  for (const Region& region : synthesis.regions.list) {
    const Synthesis& largest = Largest(synthesis, region);
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the schedule of ",
           largest.parsed.text, "\n", PrintSchedule(largest.result.impl));
  }
  return text;
}

nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis) {
  const SearchEffort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json["spec"] = synthesis.family.text();
  json["target"] = synthesis.members.front().target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", effort.seconds},
                    {"stop", std::string(Name(StopOf(synthesis)))},
                    {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const Region& region : synthesis.regions.list) {
    nlohmann::ordered_json entry = RegionJson(synthesis.regions, region);
    entry["schedule"] = PrintSchedule(Largest(synthesis, region).result.impl);
    json["regions"].push_back(std::move(entry));
  }
  json["kernels"] = nlohmann::ordered_json::array();
  for (const Synthesis& member : synthesis.members)
    json["kernels"].push_back({{"spec", member.parsed.text},
                               {"cost_cycles", ToCycles(member.result.cost)},
                               {"predicted_gflops", PredictedGflops(member)}});
  return json;
}

void PrintFamilySummary(const FamilySynthesis& synthesis) {
  const SearchEffort effort = EffortOf(synthesis);
  std::fprintf(stderr, "%s on %s: %zu members, %zu regions; %s; %lld specs in %.3f s\n%s",
               synthesis.family.text().c_str(), synthesis.members.front().target.name.c_str(),
               synthesis.members.size(), synthesis.regions.list.size(),
               std::string(Name(StopOf(synthesis))).c_str(), static_cast<long long>(effort.specs),
               effort.seconds, RegionTable(synthesis.regions).c_str());
}

}  // namespace kirsch
