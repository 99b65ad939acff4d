#include "tools/family.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "memo/hash_memo.h"
#include "spec/cat.h"
#include "spec/schedule.h"
#include "tools/target_option.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

constexpr double kNoTime = 1e-9;  // seconds: the search returns its first program

std::string DimName(const FamilySynthesis& synthesis, int dim) {
  const OpInfo& op = synthesis.members.front().parsed.spec.op_info();
  return std::string(op.dims[static_cast<size_t>(dim)].name);
}

std::string RangeText(const SizeRange& range) {
  return range.varies() ? Cat(range.low, "..", range.high) : Cat(range.low);
}

// "m 1..14, n 8"
std::string BoxText(const FamilySynthesis& synthesis, const UserRanges& box) {
  std::string text;
  for (int dim : synthesis.family.varying())
    Append(&text, text.empty() ? "" : ", ", DimName(synthesis, dim), " ",
           RangeText(box[static_cast<size_t>(dim)]));
  return text;
}

bool Contains(const UserRanges& box, const UserSizes& sizes) {
  for (size_t dim = 0; dim < box.size(); ++dim)
    if (sizes[dim] < box[dim].low || sizes[dim] > box[dim].high) return false;
  return true;
}

struct Rates {
  double least, most;  // GFLOP/s
};

Rates RatesOf(const FamilySynthesis& synthesis, const Region& region) {
  const double first = PredictedGflops(synthesis.members[static_cast<size_t>(region.largest)]);
  Rates rates = {first, first};
  for (size_t i = 0; i < synthesis.members.size(); ++i) {
    if (!Contains(region.box, synthesis.family.sizes(static_cast<int64_t>(i)))) continue;
    const double rate = PredictedGflops(synthesis.members[i]);
    rates = {std::min(rates.least, rate), std::max(rates.most, rate)};
  }
  return rates;
}

const Synthesis& Largest(const FamilySynthesis& synthesis, const Region& region) {
  return synthesis.members[static_cast<size_t>(region.largest)];
}

// The worst reason of any member.
StopReason StopOf(const FamilySynthesis& synthesis) {
  StopReason stop = StopReason::kOptimal;
  for (const Synthesis& member : synthesis.members) stop = std::max(stop, member.result.stop);
  return stop;
}

struct Effort {
  int64_t specs = 0;
  double seconds = 0;
};

Effort EffortOf(const FamilySynthesis& synthesis) {
  Effort effort;
  for (const Synthesis& member : synthesis.members) {
    effort.specs += member.result.stats.specs_solved;
    effort.seconds += member.result.seconds;
  }
  return effort;
}

}  // namespace

double SearchBudget::Left() const {
  if (ended_) return kNoTime;
  if (seconds_ == 0) return 0;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start_;
  return std::max(seconds_ - used.count(), kNoTime);
}

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
  FamilySynthesis synthesis{family, {}, {}};
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
    synthesis.members.push_back(*std::move(solved));
  }
  synthesis.regions = FindRegions(family, FamilySizes::kEverySize, decisions);
  return synthesis;
}

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const SpecFamily& family) {
  absl::StatusOr<Target> target = LoadTarget(arguments.target);
  if (!target.ok()) return target.status();
  SearchBudget budget(arguments.time_budget);
  return SolveFamily(arguments, family, *target, std::make_shared<HashMemo>(), budget);
}

std::string RegionTable(const FamilySynthesis& synthesis) {
  const std::vector<int> dims = synthesis.family.varying();
  std::string text;
  for (int dim : dims) absl::StrAppendFormat(&text, "%-12s ", DimName(synthesis, dim));
  absl::StrAppendFormat(&text, "%7s  %15s  %s\n", "kernels", "GFLOP/s", "decision");
  for (const Region& region : synthesis.regions) {
    for (int dim : dims)
      absl::StrAppendFormat(&text, "%-12s ", RangeText(region.box[static_cast<size_t>(dim)]));
    const Rates rates = RatesOf(synthesis, region);
    absl::StrAppendFormat(&text, "%7d  %15s  %s\n", region.members,
                          absl::StrFormat("%.1f - %.1f", rates.least, rates.most), region.decision);
  }
  return text;
}

std::string RegionSchedules(const FamilySynthesis& synthesis) {
  std::string text;
  for (const Region& region : synthesis.regions) {
    const Rates rates = RatesOf(synthesis, region);
    const Synthesis& largest = Largest(synthesis, region);
    absl::StrAppendFormat(&text, "%s# %s: %d %s, %.1f to %.1f GFLOP/s predicted; the schedule of %s\n%s",
                          text.empty() ? "" : "\n", BoxText(synthesis, region.box), region.members,
                          region.members == 1 ? "kernel" : "kernels", rates.least, rates.most,
                          largest.parsed.text, PrintSchedule(largest.result.impl));
  }
  return text;
}

nlohmann::ordered_json FamilyJson(const FamilySynthesis& synthesis) {
  const Effort effort = EffortOf(synthesis);
  nlohmann::ordered_json json;
  json["spec"] = synthesis.family.text();
  json["target"] = synthesis.members.front().target.name;
  json["version"] = KIRSCH_VERSION;
  json["search"] = {{"seconds", effort.seconds},
                    {"stop", std::string(Name(StopOf(synthesis)))},
                    {"specs_solved", effort.specs}};
  json["members"] = synthesis.members.size();
  json["regions"] = nlohmann::ordered_json::array();
  for (const Region& region : synthesis.regions) {
    nlohmann::ordered_json entry;
    for (int dim : synthesis.family.varying()) {
      const SizeRange& range = region.box[static_cast<size_t>(dim)];
      entry[DimName(synthesis, dim)] = {range.low, range.high};
    }
    const Rates rates = RatesOf(synthesis, region);
    entry["kernels"] = region.members;
    entry["decision"] = region.decision;
    entry["predicted_gflops"] = {rates.least, rates.most};
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
  const Effort effort = EffortOf(synthesis);
  std::fprintf(stderr, "%s on %s: %zu members, %zu regions; %s; %lld specs in %.3f s\n%s",
               synthesis.family.text().c_str(), synthesis.members.front().target.name.c_str(),
               synthesis.members.size(), synthesis.regions.size(),
               std::string(Name(StopOf(synthesis))).c_str(), static_cast<long long>(effort.specs),
               effort.seconds, RegionTable(synthesis).c_str());
}

}  // namespace kirsch
