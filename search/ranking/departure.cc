// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/departure.h"

#include <algorithm>
#include <utility>

#include "spec/language/plan_schedule.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Walks both programs side by side. Below equal decisions the specs are equal, so the children match.
bool FindDeparture(const Impl& impl, const Impl& best, Departure* departure) {
  std::vector<int>& path = departure->path;
  if (!(impl.decision == best.decision)) {
    departure->where = Cat("at ", path.empty() ? "root" : Join(path, "."));
    departure->best = PrintDecision(impl.spec.op, best.decision);
    departure->instead = PrintDecision(impl.spec.op, impl.decision);
    departure->spec = PrintSpec(impl.spec);
    return true;
  }
  for (size_t i = 0; i < impl.children.size(); ++i) {
    path.push_back(static_cast<int>(i));
    if (FindDeparture(impl.children[i].impl, best.children[i].impl, departure)) return true;
    path.pop_back();
  }
  return false;
}

Departure FirstDeparture(const Impl& impl, const Impl& best) {
  Departure departure;
  FindDeparture(impl, best, &departure);
  return departure;
}

// "v3 v4", or "v3 v4 each" if each thread repeats the group for itself.
std::string OperationsText(const Graph& graph, const GroupDecision& group) {
  return NamesOfValues(graph, group.operations) + (group.each ? " each" : "");
}

// "threads 2: v3 v4 | out"; without the number if it is 1.
std::string GroupsText(const Plan& plan) {
  const auto text = [&](const GroupDecision& group) { return OperationsText(plan.graph, group); };
  return Cat(plan.threads > 1 ? Cat("threads ", plan.threads, ": ") : std::string(),
             Join(plan.groups, " | ", text));
}

// The words of a schedule for a matrix that may be copied.
std::string CopyText(const GroupDecision::Copy& copy) {
  return copy.decision.kind == RewriteKind::kNone ? "as it lies" : PrintDecision(copy.op, copy.decision);
}

// True if both plans split the graph alike; only then can their groups be compared one by one.
bool HaveSameGroups(const Plan& a, const Plan& b) {
  return a.threads == b.threads &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const GroupDecision& a, const GroupDecision& b) {
                      return a.operations == b.operations && a.each == b.each;
                    });
}

// Where two stages of the same place differ. `where` is empty if they are the same.
Departure StageDeparture(const Stage& stage, const Stage& best, size_t number) {
  if (stage.kind == StageKind::kRows && !(stage.schedule == best.schedule))
    return {Cat("rows ", number), PrintRowSchedule(best.schedule), PrintRowSchedule(stage.schedule)};
  if (stage.kind != StageKind::kContraction) return {};
  Departure departure = FirstDeparture(stage.impl, best.impl);
  if (departure.where.empty()) return {};
  return {Cat("contraction ", number, " ", departure.where), std::move(departure.best),
          std::move(departure.instead)};
}

// Compares from the outside in: the candidate, then copies, then stages. With other candidates the stages
// don't match, so the first difference ends it.
Departure GroupDeparture(const Plan& plan, const Plan& best, size_t number) {
  const GroupDecision &group = plan.groups[number], &other = best.groups[number];
  if (!(group.candidate == other.candidate))
    return {"candidate", PrintCandidate(other.candidate), PrintCandidate(group.candidate)};
  for (size_t i = 0; i < std::min(group.copies.size(), other.copies.size()); ++i)
    if (!(group.copies[i].decision == other.copies[i].decision))
      return {Cat("copy ", Join(group.copies[i].readers, " ")), CopyText(other.copies[i]),
              CopyText(group.copies[i])};
  const auto stages = NumberedStages(plan, number), others = NumberedStages(best, number);
  for (size_t i = 0; i < std::min(stages.size(), others.size()); ++i)
    if (Departure departure = StageDeparture(*stages[i], *others[i], i); !departure.where.empty())
      return departure;
  return {};
}

Departure FirstDeparture(const Plan& plan, const Plan& best) {
  if (!HaveSameGroups(plan, best)) return {"groups", GroupsText(best), GroupsText(plan)};
  for (size_t number = 0; number < plan.groups.size(); ++number)
    if (Departure departure = GroupDeparture(plan, best, number); !departure.where.empty()) {
      departure.where = Cat("group ", OperationsText(plan.graph, plan.groups[number]), ", ", departure.where);
      return departure;
    }
  return {};
}

}  // namespace

Departure CompareWithBest(const ProgramTree& program, const ProgramTree& best) {
  return std::visit(
      [&]<typename Tree>(const Tree& tree) { return FirstDeparture(tree, std::get<Tree>(best)); }, program);
}

}  // namespace kirsch
