// What a slice of a graph costs: the cheapest of its rewrites, each stage with the program that the search
// finds for it.
#ifndef KIRSCH_SEARCH_SLICE_PRICER_H_
#define KIRSCH_SEARCH_SLICE_PRICER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/graph_rewrite.h"
#include "rewrites/graph_uses.h"
#include "search/operand_copies.h"
#include "search/plan_search.h"
#include "search/slice_levels.h"
#include "search/stage_solver.h"
#include "spec/plan.h"
#include "spec/plan_schedule.h"

namespace kirsch {

// A slice's groups, which don't wait for each other.
struct PricedSlice {
  SliceDecision decision;
  std::vector<Stage> ahead;
  std::vector<Group> groups;
  std::vector<Buffer> buffers;
  double cycles = 0;  // without what starting threads and waiting for them takes
};

// Not thread-safe. All arguments of the constructor outlive it.
class SlicePricer {
 public:
  SlicePricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options);

  // The slice of these operations; nothing if no rewrite is for it, or if it does not cost less than `budget`
  // cycles. Once a search was stopped, only in the first way there is. An error is the search's.
  absl::StatusOr<std::optional<PricedSlice>> Price(OperationSet set, Workers workers, double budget);

  // The same as a schedule has it; what that leaves open is searched. InvalidArgument, one line with the
  // place of the decision that is not in the space, or does not fit.
  absl::StatusOr<PricedSlice> Replay(OperationSet set, Workers workers, const SliceSchedule& schedule);

  // Why an operation, as a node, can't be a slice alone.
  std::string ErrorOf(int node) const;
  // Of all searches.
  const SearchStats& stats() const { return solver_.stats(); }
  bool optimal() const { return solver_.optimal(); }

 private:
  // A way to compute the slice.
  struct Way {
    const GraphRewrite* rewrite;
    GroupForm form;
  };
  struct Candidate {
    Way way;
    Level keep;
    GroupShape shape;
    SliceLevels levels;
    double bound;
  };

  absl::Status AddCandidates(const GraphRewrite& rewrite, const SliceProblem& problem, double budget,
                             std::vector<Candidate>* candidates);
  absl::Status AddCandidate(const Way& way, const GroupShape& shape, double budget,
                            std::vector<Candidate>* candidates);
  absl::Status Bound(Candidate* candidate);
  double BoundOf(const Stage& stage) const;
  absl::StatusOr<std::optional<PricedSlice>> PriceCandidate(double budget, Candidate* candidate);
  static bool IsAmong(const std::vector<OperandCopies::Readers>& readers, int number);
  OperandCopies CopiesFor(Candidate* candidate);
  absl::Status PriceRows(const SliceLevels& levels, int number, Stage* stage) const;
  absl::StatusOr<bool> SolveContraction(int number, double limit, Stage* stage);
  absl::Status CheckPins(const GroupShape& shape) const;
  absl::StatusOr<RewriteParameters> PinnedParameters(const GraphRewrite& rewrite) const;
  const StageSchedule* PinnedStage(int number) const;
  absl::Status Unsuited(TextPosition position, std::string_view expected) const;

  Sharing SharingOf(const Group& group) const;

  const GraphUses& uses_;
  const Graph& graph_;
  const CostModel& model_;
  const Target& target_;
  const PlanOptions& options_;
  StageSolver solver_;
  Workers workers_ = Workers::kOne;
  int threads_ = 1;  // that work at the same time
  const SliceSchedule* pinned_ = nullptr;
  std::map<int, std::string> errors_;  // by node
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SLICE_PRICER_H_
