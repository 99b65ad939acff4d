// SPDX-License-Identifier: Apache-2.0
#include "calibrate/held_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bench/results/statistics.h"
#include "calibrate/fit.h"

namespace kirsch {
namespace {

constexpr std::string_view kRam = "memory.RAM.", kL3 = "memory.L3.", kVectors = "vectors.", kAll = "";

// A group may be slower by this share. The same program takes a per cent more or less from one time to the
// next, and a group has few problems.
constexpr double kGroupNoise = 0.02;

// A choice: what it was predicted to take, and what it takes.
struct Predicted {
  double cycles = 0, measured = 0;
};

// Returns the program of each problem that `model` predicts to be the fastest; of equals the first.
std::map<std::string, Predicted> ChoicesOf(const CostModel& model,
                                           const std::vector<Observation>& observations) {
  std::map<std::string, Predicted> choices;
  for (const Observation& one : observations) {
    const double cycles = one.predict(model);
    const auto [choice, first] = choices.try_emplace(one.problem, Predicted{cycles, one.cycles});
    if (!first && cycles < choice->second.cycles) choice->second = {cycles, one.cycles};
  }
  return choices;
}

bool DoesNoHarm(const HeldOutTimes& times) {
  return times.time <= 1 && std::all_of(times.groups.begin(), times.groups.end(),
                                        [](const GroupTime& group) { return group.time <= 1 + kGroupNoise; });
}

}  // namespace

bool Keeps(const Candidate& candidate, std::string_view key) {
  return std::any_of(candidate.kept.begin(), candidate.kept.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

std::vector<Candidate> FindCandidates(const Target& base, const Target& fitted,
                                      const std::vector<CostKey>& keys) {
  std::vector<Candidate> candidates = {{fitted, {}},          {fitted, {kRam}},
                                       {fitted, {kRam, kL3}}, {fitted, {kMemoryKeys}},
                                       {fitted, {kVectors}},  {fitted, {kAll}}};
  // Each candidate begins as the fitted target, and gets back the base's values of what it keeps.
  for (Candidate& candidate : candidates) {
    for (const CostKey& key : keys)
      if (Keeps(candidate, key.name)) key.set(key.get(base), candidate.target);
    if (candidate.kept != std::vector{kAll}) candidate.target = Ordered(std::move(candidate.target));
  }
  return candidates;
}

HeldOutTimes TimesOf(const Target& candidate, const Target& base,
                     const std::vector<Observation>& observations) {
  const std::map<std::string, Predicted> ours = ChoicesOf(CostModel(candidate), observations),
                                         theirs = ChoicesOf(CostModel(base), observations);
  HeldOutTimes times;
  std::vector<double> all, errors;
  std::vector<std::pair<std::string, std::vector<double>>> groups;
  std::string last;
  for (const Observation& one : observations) {
    // Programs of a problem follow each other, so this visits each problem once.
    if (std::exchange(last, one.problem) == one.problem) continue;
    const Predicted& choice = ours.at(one.problem);
    all.push_back(choice.measured / theirs.at(one.problem).measured);
    errors.push_back(std::abs(choice.cycles / choice.measured - 1));
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == one.group; });
    if (group == groups.end()) group = groups.insert(group, {one.group, {}});
    group->second.push_back(all.back());
  }
  times.problems = static_cast<int>(all.size());
  if (all.empty()) return times;
  times.time = GeometricMean(all);
  times.error = Median(errors);
  for (const auto& [name, ratios] : groups)
    times.groups.push_back({name, static_cast<int>(ratios.size()), GeometricMean(ratios)});
  return times;
}

size_t KeptCandidate(const std::vector<HeldOutTimes>& times) {
  const auto first = std::find_if(times.begin(), times.end(), DoesNoHarm);
  return static_cast<size_t>(std::min(first, std::prev(times.end())) - times.begin());
}

}  // namespace kirsch
