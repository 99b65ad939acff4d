// SPDX-License-Identifier: Apache-2.0
// What a fusion group costs: the cheapest of its rewrites, each stage with the program that the search
// finds for it.
#ifndef KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_
#define KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/graph_rewrite.h"
#include "search/graph/group_levels.h"
#include "search/graph/operand_copies.h"
#include "search/graph/plan_search.h"
#include "search/graph/stage_solver.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan.h"

namespace kirsch {

// A group's loop nests, which don't wait for each other.
struct PricedGroup {
  GroupDecision decision;
  std::vector<Stage> prepacks;
  std::vector<LoopNest> nests;
  std::vector<Buffer> buffers;
  double cycles = 0;  // without what starting threads and waiting for them takes
};

struct GroupPrice {
  std::optional<PricedGroup> group;
  double bound = 0;  // the cycles of the group, if there is one
};

// Not thread-safe. All arguments of the constructor outlive it.
class GroupPricer {
 public:
  // A rewrite of a group, with its parameters.
  struct Choice {
    const GraphRewrite* rewrite;
    GroupForm form;
  };
  // What it makes, its values being at their levels: contractions have no programs, and cost what is known
  // that they do at least.
  struct Candidate {
    Choice choice;
    Level keep;
    GroupShape shape;
    GroupLevels levels;
    double bound;
  };

  GroupPricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options);

  // The group of these operations costs no less, by closed forms; infinity: no rewrite is for it.
  absl::StatusOr<double> Bound(OperationSet set, Workers workers);
  // The arithmetic of an operation, by its place, takes no less on all threads together, whatever group it is
  // in.
  absl::StatusOr<double> ArithmeticBound(size_t place);

  // The group, or, if it does not cost less than `budget` cycles, a bound that is no less. Once a search was
  // stopped, only by the first candidate there is, or, below a budget, in none, and the bound is not proven.
  // An error is the search's. `second_best`: find what would be second best, too.
  absl::StatusOr<GroupPrice> Price(OperationSet set, Workers workers, double budget,
                                   bool second_best = false);

  // The same as a schedule has it; what that leaves open is searched. InvalidArgument, one line with the
  // place of the decision that is not in the space, or does not fit.
  absl::StatusOr<PricedGroup> Replay(OperationSet set, Workers workers, const GroupSchedule& schedule);

  // What Price goes through, for others who compare candidates (group_k_best.h).
  // All candidates, what promises most first.
  absl::StatusOr<std::list<Candidate>> CandidatesFor(OperationSet set, Workers workers);
  // The copies that contractions of a candidate may share, of which `made` are decided. `candidate` outlives
  // them.
  OperandCopies CopiesFor(Candidate* candidate, int made = 0);
  // A placed contraction takes no less, by closed forms.
  double BoundOf(const Stage& stage) const;
  // Fills in the program of the stage of that number, or of none if it is negative, its operands having their
  // places. False: it takes at least `limit` cycles.
  absl::StatusOr<bool> SolveContraction(int number, double limit, Stage* stage);
  // A candidate whose stages have programs, and the copies that were decided.
  PricedGroup Finished(const Candidate& candidate, const GroupDecision& copies) const;
  // As nodes.
  std::vector<int> OperationsOf(OperationSet set) const { return FusionGroup(uses_, set).operations(); }

  // Why an operation, as a node, can't be a group alone.
  std::string ErrorOf(int node) const;
  // Of all searches.
  const SearchStats& stats() const { return solver_.stats(); }
  bool optimal() const { return solver_.optimal(); }

 private:
  // A contraction that is to be solved, or a matrix of which it is to be decided whether it is copied.
  struct Question {
    StagePlace place;
    const OperandCopies::Readers* readers = nullptr;  // null: a contraction
    double raised = 1;                                // what is known of it, relative to the closed form
  };

  absl::StatusOr<GroupPrice> Best(double budget, bool second_best, std::list<Candidate>* candidates);
  int ThreadsOf(Workers workers) const { return workers == Workers::kOne ? 1 : options_.threads; }
  absl::Status AddCandidates(const GraphRewrite& rewrite, const GroupProblem& problem, Workers workers,
                             std::list<Candidate>* candidates);
  absl::Status AddCandidate(const Choice& choice, const GroupShape& shape, Workers workers,
                            std::list<Candidate>* candidates);
  absl::Status FindBound(Candidate* candidate);
  absl::StatusOr<GroupPrice> PriceCandidate(double budget, Candidate candidate);
  std::vector<Question> MakeQuestions(const OperandCopies& copies,
                                      const std::vector<OperandCopies::Readers>& readers,
                                      GroupShape* shape) const;
  static GroupPrice Refused(const Question& question, const GroupShape& shape, double budget);
  static std::vector<Question> LeastRaisedFirst(std::vector<Question> questions);
  absl::StatusOr<bool> Probe(const Question& question, const OperandCopies& copies, double budget,
                             const GroupLevels& levels, GroupShape* shape);
  static bool IsAmong(const std::vector<OperandCopies::Readers>& readers, int number);
  absl::Status PriceRows(const GroupLevels& levels, int number, Stage* stage) const;
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
  StageSolver solver_;
  const std::vector<bool> of_keys_;  // nodes that have the number of keys, if that is to be any
  const GroupSchedule* pinned_ = nullptr;
  std::map<int, std::string> errors_;  // by node
  // Of groups that Price was asked about and that cost more, what is left of their candidates.
  std::map<std::pair<OperationSet, Workers>, std::list<Candidate>> open_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_GROUP_PRICER_H_
