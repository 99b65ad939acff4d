// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/group_k_best.h"

#include <algorithm>
#include <list>
#include <utility>

#include "cost/cost.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
// Before anything is looked into, the pricer's closed forms are the bound; then the first entry of the queue.
absl::StatusOr<double> GroupKBest::Bound() {
  if (is_priced()) return found_.front().cycles;
  if (started_) return queue_.empty() ? kInfiniteCycles : queue_.begin()->first;
  if (bound_ < 0) {
    KIRSCH_ASSIGN_OR_RETURN(const double bound, pricer_.Bound(set_, workers_));
    bound_ = bound;
  }
  return bound_;
}

absl::StatusOr<const PricedGroup*> GroupKBest::At(size_t rank, double budget) {
  KIRSCH_RETURN_IF_ERROR(Start());
  // The first entry of the queue bounds all that is not found yet. So the list is exact as far as it is
  // filled.
  while (found_.size() <= rank && !queue_.empty() && queue_.begin()->first < budget && pricer_.optimal() &&
         !stages_.stopped()) {
    auto first = queue_.extract(queue_.begin());
    KIRSCH_RETURN_IF_ERROR(LookInto(std::move(first.mapped()), first.key(), budget));
  }
  return found_.size() > rank && found_[rank].cycles < budget ? &found_[rank] : nullptr;
}

absl::Status GroupKBest::Start() {
  if (started_) return absl::OkStatus();
  started_ = true;
  KIRSCH_ASSIGN_OR_RETURN(std::list<GroupPricer::Candidate> candidates,
                          pricer_.CandidatesFor(set_, workers_));
  for (GroupPricer::Candidate& candidate : candidates) {
    const double bound = candidate.bound;
    auto open = std::make_unique<Open>(std::move(candidate));
    open->matrices = pricer_.CopiesFor(&open->candidate).FindReaders(open->candidate.shape);
    Add(bound, {std::move(open), nullptr, {}, 0});
  }
  return absl::OkStatus();
}

// Takes one step with an entry. Each matrix that may be copied is decided first. Not to copy it has a bound
// at once; to copy it must be searched, so that comes later, if the entry comes up again.
absl::Status GroupKBest::LookInto(Entry entry, double least, double budget) {
  if (entry.solved != nullptr) {
    Emit(entry);
    return absl::OkStatus();
  }
  Open& open = *entry.open;
  const size_t decided = open.copies.copies.size();
  if (decided == open.matrices.size()) return Solve(std::move(entry), least, budget);
  if (open.copied) return TryCopy(std::move(entry), least, budget);
  // The stages that read this matrix go back to their closed forms: what they cost depends on the choice.
  GroupPricer::Candidate as_it_lies = open.candidate;
  for (const StagePlace& reader : open.matrices[decided].stages) {
    Stage& stage = reader.In(as_it_lies.shape);
    stage.cycles = pricer_.BoundOf(stage);
  }
  AddDecided(open, std::move(as_it_lies), {}, least);
  open.copied = true;
  Add(least, std::move(entry));
  return absl::OkStatus();
}

// Adds the candidate with its next matrix decided, at what its stages cost at least.
void GroupKBest::AddDecided(const Open& before, GroupPricer::Candidate candidate, const Decision& decision,
                            double least) {
  const OperandCopies::Readers& readers = before.matrices[before.copies.copies.size()];
  auto open = std::make_unique<Open>(std::move(candidate));
  open->matrices = before.matrices;
  open->copies = before.copies;
  GroupDecision::Copy& copy = open->copies.copies.emplace_back();
  copy.op = readers.stages.front().In(open->candidate.shape).spec.op;
  for (const StagePlace& reader : readers.stages) copy.readers.push_back(reader.number);
  copy.decision = decision;
  const double cycles = std::max(least, cost_.Of(open->candidate.shape));
  Add(cycles, {std::move(open), nullptr, {}, 0});
}

// Tries a copy of the next matrix, as one of its readers would have it. The readers take turns, and several
// may want the same copy. A reader's wish is the first decision of its cheapest program with a constant
// operand.
absl::Status GroupKBest::TryCopy(Entry entry, double least, double budget) {
  Open& open = *entry.open;
  const size_t decided = open.copies.copies.size();
  const OperandCopies::Readers& readers = open.matrices[decided];
  GroupPricer::Candidate candidate = open.candidate;
  OperandCopies copies = pricer_.CopiesFor(&candidate, static_cast<int>(decided));
  const StagePlace& asks = readers.stages[open.asks];
  Stage constant = copies.WithConstant(candidate.shape, asks, readers.operand);
  const double limit = copies.LimitOf(asks, readers.operand, budget, &candidate.shape);
  KIRSCH_ASSIGN_OR_RETURN(const bool solved, pricer_.SolveContraction(-1, limit, &constant));
  if (!solved) {
    Add(budget, std::move(entry));
    return absl::OkStatus();
  }
  const Decision decision = constant.impl.decision;
  if (std::ranges::find(open.tried, decision) == open.tried.end()) {
    open.tried.push_back(decision);
    if (copies.Fits(candidate.shape, readers, decision)) {
      copies.Copy(readers, asks, decision, &candidate.shape);
      for (const StagePlace& reader : readers.stages) {
        Stage& stage = reader.In(candidate.shape);
        stage.cycles = pricer_.BoundOf(stage);
      }
      AddDecided(open, std::move(candidate), decision, least);
    }
  }
  if (++open.asks < readers.stages.size()) Add(least, std::move(entry));
  return absl::OkStatus();
}

// Finds the cheapest program of each contraction, now that all copies are decided.
absl::Status GroupKBest::Solve(Entry entry, double least, double budget) {
  GroupPricer::Candidate& candidate = entry.open->candidate;
  const OperandCopies copies = pricer_.CopiesFor(&candidate);
  std::vector<StagePlace> places;
  for (const StagePlace& place : FindPlaces(candidate.shape)) {
    const StageKind kind = place.In(candidate.shape).kind;
    if (kind == StageKind::kContraction || kind == StageKind::kRows) places.push_back(place);
    if (kind != StageKind::kContraction) continue;
    KIRSCH_ASSIGN_OR_RETURN(const bool solved, copies.SolveAsItIs(place, budget, &candidate.shape));
    if (solved) continue;
    // Not solved: either there is no program at all, and the entry is dropped, or there is none within the
    // budget.
    const bool never = place.In(candidate.shape).cycles >= ToCycles(kInfiniteCost);
    if (!never) Add(std::max(least, budget), std::move(entry));
    return absl::OkStatus();
  }
  auto solved = std::make_shared<Solved>(
      Solved{std::move(candidate), std::move(entry.open->copies), std::move(places), {}});
  const double cycles = cost_.Of(solved->candidate.shape);
  const size_t count = solved->places.size();
  Add(cycles, {nullptr, std::move(solved), std::vector<size_t>(count), 0});
  return absl::OkStatus();
}

// Adds a variant to the list, and its neighbours to the queue. A neighbour has the next program at one place,
// no earlier than the last place that was changed. So each combination comes up once.
void GroupKBest::Emit(const Entry& entry) {
  Solved& solved = *entry.solved;
  GroupPricer::Candidate candidate = solved.candidate;
  for (size_t place = 0; place < entry.ranks.size(); ++place)
    if (entry.ranks[place] > 0) Apply(entry.ranks[place], place, &solved, &candidate.shape);
  PricedGroup& found = found_.emplace_back(pricer_.Finished(candidate, solved.copies));
  found.decision.operations = pricer_.OperationsOf(set_);
  if (!stages_.others()) return;
  for (size_t place = entry.last; place < entry.ranks.size(); ++place) {
    GroupShape next = candidate.shape;
    if (!Apply(entry.ranks[place] + 1, place, &solved, &next)) continue;
    std::vector<size_t> ranks = entry.ranks;
    ++ranks[place];
    Add(cost_.Of(next), {nullptr, entry.solved, std::move(ranks), place});
  }
}

// Gives a stage the program or schedule of a rank. False: there is none.
bool GroupKBest::Apply(size_t rank, size_t place, Solved* solved, GroupShape* shape) {
  const StagePlace& at = solved->places[place];
  Stage& stage = at.In(*shape);
  const GroupLevels& levels = solved->candidate.levels;
  if (stage.kind == StageKind::kContraction) {
    if (!stages_.Program(rank, &stage)) return false;
    stage.cycles += levels.FetchCycles(shape->nests[at.nest], stage);
    return true;
  }
  const auto [known, is_new] = solved->schedules.try_emplace(place);
  if (is_new) known->second = stages_.Schedules(levels.LevelsOf(stage), stage);
  if (rank >= known->second.size()) return false;
  stage = known->second[rank];
  return true;
}

}  // namespace kirsch
