// SPDX-License-Identifier: Apache-2.0
// Finds what a fusion group costs: the cheapest of its candidates, each stage with the program that the
// search finds for it.
//
// It works under a budget, because lengths of groups matter only as far as the shortest path needs them. A
// candidate is put aside once its bounds show that it costs more.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/graph_rewrite.h"
#include "rewrites/graph/kept_rows.h"
#include "search/graph/group_levels.h"
#include "search/graph/operand_copies.h"
#include "search/graph/plan_search.h"
#include "search/graph/stage_cost.h"
#include "search/graph/stage_solver.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan.h"

namespace kirsch {

// A group with its loop nests, which don't wait for each other.
struct PricedGroup {
  GroupDecision decision;
  std::vector<Stage> prepacks;
  std::vector<LoopNest> nests;
  std::vector<Buffer> buffers;
  double cycles = 0;  // without what starting threads and waiting for them takes
};

// The answer to a question about a group: the group itself, or only a bound.
struct GroupPrice {
  std::optional<PricedGroup> group;
  double bound = 0;  // the cycles of the group, if there is one
};

// Prices the groups of one graph. Not thread-safe. All arguments of the constructor must outlive it.
class GroupPricer {
 public:
  // A rewrite of a group, with its parameters.
  struct Choice {
    const GraphRewrite* rewrite;
    GroupForm form;
  };
  // The loop nests that a choice makes of the group, with all values at their levels. Contractions have no
  // programs yet; their cycles are what is known that they take at least.
  struct Candidate {
    Choice choice;
    Level keep;  // the fastest that values between stages may stay in
    GroupShape shape;
    GroupLevels levels;
    double bound;  // cycles; a closed form at first, then what budgets have proven
  };

  GroupPricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options);

  // A lower bound of the group's cycles, by closed forms. Infinity: no rewrite applies to it.
  absl::StatusOr<double> Bound(const OperationSet& set, Workers workers);
  // A lower bound of the arithmetic of an operation, given by its place. It holds for all threads together,
  // and whatever group the operation is in.
  absl::StatusOr<double> ArithmeticBound(size_t place);

  // Returns the cheapest candidate, if it costs less than `budget` cycles; else a bound that is no less.
  // `second_best`: look for the second best candidate, too. An error is that of a search.
  //
  // After a search was stopped, the answer is not proven. Without a budget it is then the first candidate
  // that has programs. With one, it may be none at all.
  absl::StatusOr<GroupPrice> Price(const OperationSet& set, Workers workers, double budget,
                                   bool second_best = false);

  // The same, as a schedule has it; whatever that leaves open is searched. InvalidArgument: one line with the
  // place of the decision that is not in the space, or does not fit.
  absl::StatusOr<PricedGroup> Replay(const OperationSet& set, Workers workers, const GroupSchedule& schedule);

  // The steps of Price, for others who compare candidates (group_k_best.h). First, all candidates, by their
  // bounds.
  absl::StatusOr<std::list<Candidate>> CandidatesFor(const OperationSet& set, Workers workers);
  // The copies that contractions of a candidate may share, of which `made` are decided. `candidate` must
  // outlive them.
  OperandCopies CopiesFor(Candidate* candidate, int made = 0);
  // The cycles that a placed contraction takes at least, by closed forms.
  double BoundOf(const Stage& stage) const;
  // Fills in the program of a stage whose operands are placed. `number`: that of the stage, for schedules;
  // negative: it has none. False: it takes at least `limit` cycles.
  absl::StatusOr<bool> SolveContraction(int number, double limit, Stage* stage);
  // Makes a group of a candidate whose stages have programs, and of the copies that were decided.
  PricedGroup Finished(const Candidate& candidate, const GroupDecision& copies) const;
  // The operations of a set, as nodes.
  std::vector<int> OperationsOf(const OperationSet& set) const {
    return FusionGroup(uses_, set).operations();
  }

  // Says why an operation, given as a node, can't be a group alone.
  std::string ErrorOf(int node) const;
  // Counts of all searches; and whether none of them was stopped.
  const SearchStats& stats() const { return solver_.stats(); }
  bool optimal() const { return solver_.optimal(); }

 private:
  // Something to be decided of a candidate: the program of a contraction, or whether a matrix is copied.
  struct Question {
    StagePlace place;
    const OperandCopies::Readers* readers = nullptr;  // null: a contraction
    double raised = 1;                                // what is known of it, relative to the closed form
  };

  // A candidate that is expanded when it is priced first: most never are.
  struct OpenCandidate {
    Choice choice;
    Level keep;
    double bound;  // as Candidate's
    std::unique_ptr<Candidate> expanded = nullptr;
  };
  using OpenGroup = std::list<OpenCandidate>;  // in the order of their closed forms

  absl::StatusOr<OpenGroup*> Open(const OperationSet& set, Workers workers);
  GroupProblem ProblemOf(const FusionGroup& group, Workers workers);
  absl::StatusOr<GroupPrice> Best(double budget, bool second_best, const OperationSet& set, Workers workers,
                                  OpenGroup* candidates);
  absl::Status Expand(const OperationSet& set, Workers workers, OpenCandidate* open);
  std::vector<GroupLevels> UnplacedLevels() const;
  const GroupLevels& UnplacedFor(Workers workers) const { return unplaced_[static_cast<size_t>(workers)]; }
  int ThreadsOf(Workers workers) const { return workers == Workers::kOne ? 1 : options_.threads; }
  // Calls use(candidate) for each candidate, with its bound, in the order of the registry. The candidate is
  // there until `use` returns.
  using UseCandidate = absl::FunctionRef<void(const Candidate&)>;
  absl::Status ForCandidates(const OperationSet& set, Workers workers, UseCandidate use);
  absl::Status ForForms(const GraphRewrite& rewrite, const GroupProblem& problem, Workers workers,
                        UseCandidate use);
  absl::Status ForLevels(const Choice& choice, GroupShape shape, Workers workers, UseCandidate use);
  absl::Status FindBound(Candidate* candidate);
  absl::StatusOr<GroupPrice> PriceCandidate(double budget, Candidate* candidate);
  absl::StatusOr<GroupPrice> ProbeAndDecide(double budget, Candidate* candidate);
  std::vector<Question> MakeQuestions(const OperandCopies& copies,
                                      const std::vector<OperandCopies::Readers>& readers,
                                      GroupShape* shape) const;
  static GroupPrice Refused(const Question& question, const GroupShape& shape, double budget);
  static std::vector<Question> LeastRaisedFirst(std::vector<Question> questions);
  absl::StatusOr<bool> Probe(const Question& question, const OperandCopies& copies, double budget,
                             const GroupLevels& levels, GroupShape* shape);
  static bool IsAmong(const std::vector<OperandCopies::Readers>& readers, int number);
  absl::Status PriceRows(const GroupLevels& levels, int number, Stage* stage);
  absl::Status CheckPins(const GroupShape& shape) const;
  absl::StatusOr<RewriteParameters> PinnedParameters(const GraphRewrite& rewrite) const;
  const StageSchedule* PinnedStage(int number) const;
  absl::Status Unsuited(TextPosition position, std::string_view expected) const;

  static Sharing SharingOf(const LoopNest& nest, Workers workers);

  const GraphUses& uses_;
  const Graph& graph_;
  const CostModel& model_;
  const Target& target_;
  const PlanOptions& options_;
  KeptRows kept_rows_;
  StageSolver solver_;
  StagePrices own_prices_;  // where no others are given
  StagePrices& prices_;
  const std::vector<GroupLevels> unplaced_;  // before anything is placed, by Workers
  const std::vector<bool> of_keys_;          // nodes that have the number of keys, if that is to be any
  const GroupSchedule* pinned_ = nullptr;
  std::map<int, std::string> errors_;  // by node
  // The candidates of groups that are not priced yet, with the bounds proven so far. The next question, with
  // a larger budget, goes on from there.
  absl::node_hash_map<std::pair<OperationSet, Workers>, OpenGroup> open_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_
