// SPDX-License-Identifier: Apache-2.0
#include "search/graph/group_pricer.h"

#include <algorithm>
#include <utility>

#include "cost/cost.h"
#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/registry.h"
#include "search/graph/key_nodes.h"
#include "search/graph/operand_copies.h"
#include "spec/check.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr double kImpossible = ToCycles(kInfiniteCost);
const PlanPacking kAnyPacking;  // where a schedule decides

// How a schedule writes a rewrite, such as "matmul tile=SIZE".
std::string Usage(const GraphRewrite& rewrite) {
  std::string text(rewrite.name);
  for (std::string_view name : rewrite.parameters) Append(&text, " ", name, "=SIZE");
  return text;
}

// The sort is stable: of equal bounds, the rewrites keep the order of the registry.
template <typename Candidates>
void SortByBound(Candidates* candidates) {
  candidates->sort([](const auto& a, const auto& b) { return a.bound < b.bound; });
}

}  // namespace

GroupPricer::GroupPricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options)
    : uses_(uses),
      graph_(uses.graph()),
      model_(model),
      target_(model.target()),
      options_(options),
      kept_rows_(uses),
      solver_(target_, options),
      own_prices_(target_),
      prices_(options.prices != nullptr ? *options.prices : own_prices_),
      unplaced_(UnplacedLevels()),
      of_keys_(options.other_keys == nullptr ? std::vector<bool>()
                                             : NodesOfKeys(graph_, CanonicalGraph(*options.other_keys))) {}

std::vector<GroupLevels> GroupPricer::UnplacedLevels() const {
  std::vector<GroupLevels> levels;
  for (Workers workers : {Workers::kOne, Workers::kShared, Workers::kEach})
    levels.emplace_back(graph_, target_, options_.residency, options_.placement, workers, ThreadsOf(workers));
  return levels;
}

absl::StatusOr<double> GroupPricer::Bound(const OperationSet& set, Workers workers) {
  KIRSCH_ASSIGN_OR_RETURN(OpenGroup* const open, Open(set, workers));
  return open->empty() ? kInfiniteCycles : open->front().bound;
}

// Finds the candidates of a group, unless they are known.
absl::StatusOr<GroupPricer::OpenGroup*> GroupPricer::Open(const OperationSet& set, Workers workers) {
  const auto [open, is_new] = open_.try_emplace({set, workers});
  if (!is_new) return &open->second;
  OpenGroup& candidates = open->second;
  KIRSCH_RETURN_IF_ERROR(ForCandidates(set, workers, [&](const Candidate& candidate) {
    candidates.push_back({candidate.choice, candidate.keep, candidate.bound});
  }));
  SortByBound(&candidates);
  return &candidates;
}

absl::StatusOr<double> GroupPricer::ArithmeticBound(size_t place) {
  KIRSCH_ASSIGN_OR_RETURN(const std::list<Candidate> candidates,
                          CandidatesFor(OperationSet::Of(place), Workers::kOne));
  double least = kInfiniteCycles;
  for (const Candidate& candidate : candidates) {
    double cycles = 0;
    for (const StagePlace& stage_place : FindPlaces(candidate.shape)) {
      const Stage& stage = stage_place.In(candidate.shape);
      if (stage.kind == StageKind::kContraction)
        cycles += static_cast<double>(stage.repeats) * model_.ComputeBound(stage.spec);
    }
    least = std::min(least, cycles);
  }
  return least;
}

absl::StatusOr<GroupPrice> GroupPricer::Price(const OperationSet& set, Workers workers, double budget,
                                              bool second_best) {
  KIRSCH_ASSIGN_OR_RETURN(OpenGroup* const open, Open(set, workers));
  KIRSCH_ASSIGN_OR_RETURN(GroupPrice price, Best(budget, second_best, set, workers, open));
  if (price.group) {
    price.group->decision.operations = OperationsOf(set);
    open_.erase({set, workers});
  }
  return price;
}

absl::StatusOr<std::list<GroupPricer::Candidate>> GroupPricer::CandidatesFor(const OperationSet& set,
                                                                             Workers workers) {
  std::list<Candidate> candidates;
  KIRSCH_RETURN_IF_ERROR(
      ForCandidates(set, workers, [&](const Candidate& candidate) { candidates.push_back(candidate); }));
  SortByBound(&candidates);
  return candidates;
}

absl::Status GroupPricer::ForCandidates(const OperationSet& set, Workers workers, UseCandidate use) {
  const FusionGroup group(uses_, set);
  const GroupProblem problem = ProblemOf(group, workers);
  // Only rewrites that a pinned schedule allows, that apply to the group, and that go by keys in the way the
  // options ask for.
  for (const GraphRewrite* rewrite : GraphRewrites()) {
    if (pinned_ != nullptr && !pinned_->rewrite.text.empty() && pinned_->rewrite.text != rewrite->name)
      continue;
    if (!rewrite->applies(problem) || (problem.symbolic_keys() && rewrite->keys != options_.keys)) continue;
    KIRSCH_RETURN_IF_ERROR(ForForms(*rewrite, problem, workers, use));
  }
  return absl::OkStatus();
}

GroupProblem GroupPricer::ProblemOf(const FusionGroup& group, Workers workers) {
  return {group,
          target_,
          workers == Workers::kShared ? options_.threads : 1,
          options_.allow_winograd,
          GoesByKeys(group, of_keys_) ? &of_keys_ : nullptr,
          options_.symbolic_rows,
          &kept_rows_};
}

// Tries candidates in the order of their closed forms, whatever was learned of them since. Of equal costs the
// first one wins, so the winner does not depend on earlier questions.
absl::StatusOr<GroupPrice> GroupPricer::Best(double budget, bool second_best, const OperationSet& set,
                                             Workers workers, OpenGroup* candidates) {
  // `bound` becomes the least of all candidates, those included that were put aside.
  std::optional<PricedGroup> best, second;
  double bound = kInfiniteCycles;
  for (OpenCandidate& candidate : *candidates) {
    if (!optimal() && (best || budget < kInfiniteCycles)) break;  // there is no time
    if (candidate.bound < budget) {
      KIRSCH_RETURN_IF_ERROR(Expand(set, workers, &candidate));
      KIRSCH_ASSIGN_OR_RETURN(GroupPrice priced, PriceCandidate(budget, candidate.expanded.get()));
      candidate.bound = priced.bound;
      // A group that is found is the caller's to remember; its candidates are of no further use.
      if (priced.group) {
        // Whichever of both is dearer is the second best so far.
        const bool wins = !best || priced.bound < best->cycles;
        second = wins ? std::exchange(best, std::move(priced.group)) : std::move(priced.group);
        // The next candidate must beat the best, or the second best if that is wanted, too.
        if (!second_best)
          budget = best->cycles;
        else if (second)
          budget = second->cycles;
      }
    }
    bound = std::min(bound, candidate.bound);
  }
  if (second_best && second) best->decision.other_candidate = {second->decision.candidate, second->cycles};
  if (best) bound = best->cycles;
  return GroupPrice{std::move(best), bound};
}

// Expands a candidate that is not expanded yet.
absl::Status GroupPricer::Expand(const OperationSet& set, Workers workers, OpenCandidate* open) {
  if (open->expanded != nullptr) return absl::OkStatus();
  const FusionGroup group(uses_, set);
  const Choice& choice = open->choice;
  GroupShape shape = choice.rewrite->expand(ProblemOf(group, workers), choice.form);
  open->expanded.reset(new Candidate{choice, open->keep, std::move(shape), UnplacedFor(workers), 0});
  open->expanded->levels.Place(open->expanded->shape, open->keep);
  return FindBound(open->expanded.get());
}

absl::StatusOr<PricedGroup> GroupPricer::Replay(const OperationSet& set, Workers workers,
                                                const GroupSchedule& schedule) {
  if (const Word& word = schedule.rewrite; !word.text.empty() && FindGraphRewrite(word.text) == nullptr) {
    std::vector<std::string_view> names;
    for (const GraphRewrite* rewrite : GraphRewrites()) names.push_back(rewrite->name);
    return ExpectedAt(options_.schedule->source, word, Cat("a rewrite (", Join(names, " "), ")"));
  }
  // The steps below ask `pinned_` wherever there is something to choose. Candidates that earlier questions
  // left open are of no use here, nor are these for later ones.
  pinned_ = &schedule;
  open_.erase({set, workers});
  absl::StatusOr<GroupPrice> priced = Price(set, workers, kInfiniteCycles, options_.explain);
  open_.erase({set, workers});
  pinned_ = nullptr;
  if (!priced.ok()) return priced.status();
  if (priced->group) return *std::move(priced->group);
  // No candidate: blame the rewrite if there is one, else the group.
  const bool named = !schedule.rewrite.text.empty();
  return ErrorAt(
      options_.schedule->source, named ? schedule.rewrite.position : schedule.position,
      Cat("expected ", named ? "operations that the rewrite is for" : "a group that can be computed"));
}

// Goes through the candidates with all parameters of a rewrite. Each comes with results in place and not, and
// with values between stages in L2 and in L1.
absl::Status GroupPricer::ForForms(const GraphRewrite& rewrite, const GroupProblem& problem, Workers workers,
                                   UseCandidate use) {
  std::vector<RewriteParameters> all;
  if (pinned_ != nullptr && !pinned_->parameters.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(const RewriteParameters pinned, PinnedParameters(rewrite));
    all = {pinned};
  } else {
    all = rewrite.enumerate(problem);
  }
  // Buffers get numbers that no other group of a plan has, as groups of a plan have different first
  // operations. The rewrite takes the first kMaxGroupOperations numbers, copies take those after them.
  const auto first = problem.group.set().first();
  const int next_value = static_cast<int>(graph_.nodes.size() + 2 * kMaxGroupOperations * first);
  for (const RewriteParameters& parameters : all)
    for (bool in_place : {true, false}) {
      const Choice choice{&rewrite, {parameters, in_place, next_value}};
      GroupShape shape = rewrite.expand(problem, choice.form);
      // The rewrite can't be applied after all. If nothing else computes the operation, this error is the
      // user's answer.
      if (!shape.error.empty()) {
        if (problem.group.size() == 1) errors_.try_emplace(problem.group.at(0), shape.error);
        return pinned_ != nullptr && !pinned_->rewrite.text.empty()
                   ? Unsuited(pinned_->rewrite.position, shape.error)
                   : absl::OkStatus();
      }
      for (const Buffer& buffer : shape.buffers)
        KIRSCH_CHECK(buffer.value < next_value + static_cast<int>(kMaxGroupOperations));
      if (shape.replaces && pinned_ != nullptr && pinned_->in_place.value_or(in_place) != in_place) continue;
      const bool replaces = shape.replaces;
      KIRSCH_RETURN_IF_ERROR(ForLevels(choice, std::move(shape), workers, use));
      if (!replaces) break;  // the other would be the same
    }
  return absl::OkStatus();
}

// Goes through one shape at both levels of `keep`, with their bounds. Both are the same candidate, whose
// levels and prices change.
absl::Status GroupPricer::ForLevels(const Choice& choice, GroupShape shape, Workers workers,
                                    UseCandidate use) {
  KIRSCH_RETURN_IF_ERROR(CheckPins(shape));
  Candidate candidate{choice, Level::kL2, std::move(shape), UnplacedFor(workers), 0};
  for (Level keep : {Level::kL2, Level::kL1}) {
    if (keep == Level::kL1 && !UnplacedFor(workers).MayKeepInL1(candidate.shape)) continue;
    if (pinned_ != nullptr && pinned_->keep && *pinned_->keep != keep) continue;
    candidate.keep = keep;
    candidate.levels.Place(candidate.shape, keep);
    if (!CopiesFor(&candidate).SuitsPacking(candidate.shape)) return absl::OkStatus();
    KIRSCH_RETURN_IF_ERROR(FindBound(&candidate));
    use(candidate);
  }
  return absl::OkStatus();
}

// Stages that are no contractions get their exact price. Contractions get their closed forms: the lesser of
// with and without a copy of an operand that may be copied.
absl::Status GroupPricer::FindBound(Candidate* candidate) {
  GroupShape& shape = candidate->shape;
  const GroupLevels& levels = candidate->levels;
  for (Stage& stage : shape.prepacks) prices_.Price(levels.LevelsOf(stage), &stage);
  for (LoopNest& nest : shape.nests) nest.sharing = SharingOf(nest, levels.workers());
  for (const StagePlace& place : FindPlaces(shape)) {
    Stage& stage = place.In(shape);
    if (stage.kind == StageKind::kContraction) {
      levels.PlaceSpec(shape.nests[place.nest], &stage);
      stage.cycles = BoundOf(stage);
    } else if (absl::Status status = PriceRows(levels, place.number, &stage); !status.ok()) {
      return status;
    }
  }
  const OperandCopies copies = CopiesFor(candidate);
  for (const OperandCopies::Readers& readers : copies.FindReaders(shape))
    for (const StagePlace& reader : readers.stages) {
      Stage& stage = reader.In(shape);
      stage.cycles = std::min(stage.cycles, BoundOf(copies.WithConstant(shape, reader, readers.operand)));
    }
  candidate->bound = GroupCost(levels.threads()).Of(shape);
  return absl::OkStatus();
}

double GroupPricer::BoundOf(const Stage& stage) const {
  return static_cast<double>(stage.repeats) * ToCycles(model_.LowerBound(stage.spec));
}

// Most candidates are refuted, and asked again later. So probes fill in what they learn in place, and the
// closed forms come back afterwards.
absl::StatusOr<GroupPrice> GroupPricer::PriceCandidate(double budget, Candidate* candidate) {
  const std::vector<StagePlace> places = FindPlaces(candidate->shape);
  std::vector<double> closed;
  for (const StagePlace& place : places) closed.push_back(place.In(candidate->shape).cycles);
  absl::StatusOr<GroupPrice> price = ProbeAndDecide(budget, candidate);
  for (size_t i = 0; i < places.size(); ++i) places[i].In(candidate->shape).cycles = closed[i];
  return price;
}

// Probes all questions first, since each may refute the candidate by itself. If all bounds together stay
// below the budget, the questions are decided, one after the other.
absl::StatusOr<GroupPrice> GroupPricer::ProbeAndDecide(double budget, Candidate* candidate) {
  const OperandCopies probed = CopiesFor(candidate);
  const std::vector<OperandCopies::Readers> readers = probed.FindReaders(candidate->shape);
  const std::vector<Question> questions = MakeQuestions(probed, readers, &candidate->shape);
  for (const Question& question : LeastRaisedFirst(questions)) {
    KIRSCH_ASSIGN_OR_RETURN(const bool possible,
                            Probe(question, probed, budget, candidate->levels, &candidate->shape));
    if (!possible) return Refused(question, candidate->shape, budget);
  }
  // All bounds are below the budget. From here on shapes get programs and copies.
  Candidate decided = *candidate;
  GroupShape& shape = decided.shape;
  OperandCopies copies = CopiesFor(&decided);
  GroupDecision decision;
  for (const Question& question : questions) {
    KIRSCH_ASSIGN_OR_RETURN(const bool solved,
                            question.readers != nullptr
                                ? copies.Decide(*question.readers, budget, &shape, &decision)
                                : copies.SolveAsItIs(question.place, budget, &shape));
    if (!solved) return Refused(question, shape, budget);
  }
  const double cycles = GroupCost(decided.levels.threads()).Of(shape);
  if (cycles >= budget) return GroupPrice{std::nullopt, budget};
  return GroupPrice{Finished(decided, decision), cycles};
}

PricedGroup GroupPricer::Finished(const Candidate& candidate, const GroupDecision& copies) const {
  const GroupCost cost(candidate.levels.threads());
  PricedGroup priced;
  priced.decision = copies;
  const GroupForm& form = candidate.choice.form;
  priced.decision.candidate = {candidate.choice.rewrite->With(form.parameters), candidate.keep,
                               form.in_place};
  priced.decision.each = candidate.levels.workers() == Workers::kEach;
  priced.prepacks = candidate.shape.prepacks;
  priced.nests = candidate.shape.nests;
  priced.buffers = candidate.shape.buffers;
  priced.cycles = cost.Of(candidate.shape);
  for (LoopNest& nest : priced.nests) {
    nest.cycles = cost.Of(nest);
    nest.sharing = cost.Best(nest);
  }
  return priced;
}

// A candidate that costs the budget or more. If a contraction has no program at all, it will not have one at
// any price.
GroupPrice GroupPricer::Refused(const Question& question, const GroupShape& shape, double budget) {
  const bool never = question.readers == nullptr && question.place.In(shape).cycles >= kImpossible;
  return {std::nullopt, never ? kInfiniteCycles : budget};
}

// Lists the questions of a candidate: one for each contraction that shares no copy, and one for each matrix
// that may be copied. The stages get the cycles that are known by now.
std::vector<GroupPricer::Question> GroupPricer::MakeQuestions(
    const OperandCopies& copies, const std::vector<OperandCopies::Readers>& readers,
    GroupShape* shape) const {
  std::vector<Question> questions;
  for (const StagePlace& place : FindPlaces(*shape)) {
    Stage& stage = place.In(*shape);
    if (stage.kind != StageKind::kContraction || IsAmong(readers, place.number)) continue;
    // The closed form, or what earlier searches of this spec have proven.
    const double closed = stage.cycles;
    stage.cycles = std::max(closed, solver_.BoundOf(stage));
    questions.push_back({place, nullptr, stage.cycles / closed});
  }
  for (const OperandCopies::Readers& all : readers) {
    double closed = 0, known = 0;
    for (const StagePlace& place : all.stages) {
      Stage& stage = place.In(*shape);
      closed += stage.cycles;
      stage.cycles = std::max(
          stage.cycles,
          std::min(solver_.BoundOf(stage), solver_.BoundOf(copies.WithConstant(*shape, place, all.operand))));
      known += stage.cycles;
    }
    questions.push_back({all.stages.front(), &all, known / closed});
  }
  return questions;
}

// The order of probes: first the question whose bound was raised least from its closed form, as a little more
// is learned of it sooner. The decisions themselves are in the order of the stages, whatever was learned
// when, as copies have numbers.
std::vector<GroupPricer::Question> GroupPricer::LeastRaisedFirst(std::vector<Question> questions) {
  std::stable_sort(questions.begin(), questions.end(),
                   [](const Question& a, const Question& b) { return a.raised < b.raised; });
  return questions;
}

bool GroupPricer::IsAmong(const std::vector<OperandCopies::Readers>& readers, int number) {
  return std::any_of(readers.begin(), readers.end(), [&](const OperandCopies::Readers& all) {
    return std::any_of(all.stages.begin(), all.stages.end(),
                       [&](const StagePlace& stage) { return stage.number == number; });
  });
}

OperandCopies GroupPricer::CopiesFor(Candidate* candidate, int made) {
  return OperandCopies(
      graph_, model_, GroupCost(candidate->levels.threads()), &candidate->levels,
      [this](int number, double limit, Stage* stage) { return SolveContraction(number, limit, stage); },
      candidate->choice.form.next_value + static_cast<int>(kMaxGroupOperations) + made,
      pinned_ == nullptr ? options_.packing : kAnyPacking, pinned_,
      options_.schedule != nullptr ? std::string_view(options_.schedule->source) : "");
}

// Prices a stage that is no contraction; its schedule may be pinned.
absl::Status GroupPricer::PriceRows(const GroupLevels& levels, int number, Stage* stage) {
  const StageSchedule* const pinned = PinnedStage(number);
  if (pinned == nullptr) {
    prices_.Price(levels.LevelsOf(*stage), stage);
    return absl::OkStatus();
  }
  if (PriceStage(levels.LevelsOf(*stage), target_, &pinned->row_schedule, stage)) return absl::OkStatus();
  return Unsuited(pinned->position, "a schedule that is in the space of the row program");
}

// Learns what a contraction takes in all tiles but the last. Contractions that read a matrix which may be
// copied are asked with a copy and without. The last tile takes little, and need not be known of candidates
// that are too dear without it. False: the candidate is too dear.
absl::StatusOr<bool> GroupPricer::Probe(const Question& question, const OperandCopies& copies, double budget,
                                        const GroupLevels& levels, GroupShape* shape) {
  if (pinned_ != nullptr || !optimal()) return true;
  if (question.readers == nullptr)
    return question.place.list == &LoopNest::rest ? absl::StatusOr<bool>(true)
                                                  : copies.SolveAsItIs(question.place, budget, shape);
  const size_t operand = question.readers->operand;
  for (const StagePlace& place : question.readers->stages) {
    if (place.list == &LoopNest::rest) continue;
    Stage& stage = place.In(*shape);
    // Either way must be too dear to refute the candidate. The lesser of both is what the reader takes at
    // least.
    Stage as_it_lies = stage, constant = copies.WithConstant(*shape, place, operand);
    const double fetch = levels.FetchCycles(shape->nests[place.nest], stage);
    const double limit = GroupCost(levels.threads()).LimitOf(shape, &stage, budget) - fetch;
    KIRSCH_ASSIGN_OR_RETURN(const bool lies, solver_.Solve(limit, &as_it_lies));
    as_it_lies.cycles += fetch;
    const double below = std::min(copies.LimitOf(place, operand, budget, shape), as_it_lies.cycles);
    KIRSCH_ASSIGN_OR_RETURN(const bool copied, solver_.Solve(below, &constant));
    if (!lies && !copied) return false;
    stage.cycles = std::max(stage.cycles, std::min(as_it_lies.cycles, constant.cycles));
  }
  return GroupCost(levels.threads()).Of(*shape) < budget;
}

absl::StatusOr<bool> GroupPricer::SolveContraction(int number, double limit, Stage* stage) {
  const StageSchedule* const pinned = PinnedStage(number);
  if (pinned == nullptr) return solver_.Solve(limit, stage);
  KIRSCH_RETURN_IF_ERROR(solver_.Replay(*pinned, stage));
  return stage->cycles < limit;
}

Sharing GroupPricer::SharingOf(const LoopNest& nest, Workers workers) {
  if (workers != Workers::kShared) return Sharing::kNone;
  // A single contraction of one tile is shared by its own program, which divides it into tasks.
  const bool alone = nest.stages.size() == 1 && nest.batch == 1 && nest.tile == nest.rows &&
                     nest.stages[0].kind == StageKind::kContraction;
  return alone ? Sharing::kStage : Sharing::kTiles;
}

std::string GroupPricer::ErrorOf(int node) const {
  const auto known = errors_.find(node);
  return known == errors_.end() ? "an operation that can be computed" : known->second;
}

const StageSchedule* GroupPricer::PinnedStage(int number) const {
  if (pinned_ == nullptr) return nullptr;
  const auto found = std::find_if(pinned_->stages.begin(), pinned_->stages.end(),
                                  [&](const StageSchedule& stage) { return stage.stage == number; });
  return found == pinned_->stages.end() ? nullptr : &*found;
}

absl::Status GroupPricer::Unsuited(TextPosition position, std::string_view expected) const {
  return ErrorAt(options_.schedule->source, position, Cat("expected ", expected));
}

// An error if a line of the schedule is for a stage that there isn't.
absl::Status GroupPricer::CheckPins(const GroupShape& shape) const {
  if (pinned_ == nullptr) return absl::OkStatus();
  const std::vector<StagePlace> places = FindPlaces(shape);
  for (const StageSchedule& stage : pinned_->stages) {
    const StageKind kind = stage.rows ? StageKind::kRows : StageKind::kContraction;
    const auto number = static_cast<size_t>(stage.stage);
    if (number >= places.size() || places[number].In(shape).kind != kind)
      return Unsuited(stage.position, Cat("the number of one of the ", places.size(), " stages that is ",
                                          stage.rows ? "a row program" : "a contraction"));
  }
  return absl::OkStatus();
}

// The parameters that a schedule names. All of a rewrite's must be there, in any order.
absl::StatusOr<RewriteParameters> GroupPricer::PinnedParameters(const GraphRewrite& rewrite) const {
  RewriteParameters parameters = {};
  std::vector<bool> given(rewrite.parameters.size());
  for (const auto& [name, value] : pinned_->parameters) {
    const auto known = std::find(rewrite.parameters.begin(), rewrite.parameters.end(), name.text);
    if (known == rewrite.parameters.end())
      return ExpectedAt(options_.schedule->source, name, Cat("'", Usage(rewrite), "'"));
    const auto place = static_cast<size_t>(known - rewrite.parameters.begin());
    parameters[place] = value;
    given[place] = true;
  }
  if (std::find(given.begin(), given.end(), false) != given.end())
    return Unsuited(pinned_->rewrite.position, Cat("all of '", Usage(rewrite), "'"));
  return parameters;
}

}  // namespace kirsch
