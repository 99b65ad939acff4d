// SPDX-License-Identifier: Apache-2.0
// Decides which matrices the contractions of a fusion group read from a copy. A copy is made once for all
// tiles, or, of a constant, once for all calls.
#ifndef KIRSCH_SEARCH_GRAPH_OPERAND_COPIES_H_
#define KIRSCH_SEARCH_GRAPH_OPERAND_COPIES_H_

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/graph/group_shape.h"
#include "search/graph/group_cost.h"
#include "search/graph/group_levels.h"
#include "search/graph/plan_packing.h"
#include "spec/language/plan_schedule.h"
#include "spec/program/plan.h"

namespace kirsch {

// Says where a stage of a shape is, and its number in GroupDecision. Unlike a pointer, it also finds the
// stage in a copy of the shape.
struct StagePlace {
  int number = 0;
  size_t nest = 0;
  std::vector<Stage> LoopNest::* list = nullptr;
  size_t place = 0;

  Stage& In(GroupShape& shape) const { return (shape.nests[nest].*list)[place]; }
  const Stage& In(const GroupShape& shape) const { return (shape.nests[nest].*list)[place]; }
};

// Lists all stages of a shape that are no copies.
std::vector<StagePlace> FindPlaces(const GroupShape& shape);

// Decides the copies of one candidate. A copy is a decision above all contractions that read the matrix: they
// all take it, or none does. It lies as one of them would have it, whichever makes all of them cheapest
// together. With several matrices, one is decided after the other.
class OperandCopies {
 public:
  // The contractions that read one matrix, all as their operand `operand`.
  struct Readers {
    size_t operand = 0;
    std::vector<StagePlace> stages;
  };
  // Fills in a placed contraction's program and cycles. The number is that of the stage, or negative if it
  // has none. False: it takes at least `limit` cycles.
  using Solve = std::function<absl::StatusOr<bool>(int number, double limit, Stage* stage)>;

  // All arguments must outlive it. Values that are copies get numbers from `next_value` on. `packing`: see
  // PlanOptions. `pinned`: null, or a schedule that decides instead; `source`: what errors call that.
  OperandCopies(const Graph& graph, const CostModel& model, const GroupCost& cost, GroupLevels* levels,
                const Solve& solve, int next_value, const PlanPacking& packing, const GroupSchedule* pinned,
                std::string_view source)
      : graph_(graph),
        model_(model),
        cost_(cost),
        levels_(*levels),
        solve_(solve),
        next_value_(next_value),
        packing_(packing),
        pinned_(pinned),
        source_(source) {}

  // Lists the readers of every matrix that may be copied.
  std::vector<Readers> FindReaders(const GroupShape& shape) const;

  // True if the shape makes nothing of constants that the packing lacks, whatever is copied.
  bool SuitsPacking(const GroupShape& shape) const;

  // Returns the stage as if the matrix were constant, at the level of the copy. Its programs begin with a
  // copy that costs nothing. So it costs no more than with any copy, and its first decision says which copy
  // it would have.
  Stage WithConstant(const GroupShape& shape, const StagePlace& reader, size_t operand) const;

  // True if there is room for a copy, as `decision` makes it, beside what each of its readers reads.
  bool Fits(const GroupShape& shape, const Readers& readers, const Decision& decision) const;

  // The cycles that the reader must stay below with a copy, if the shape is to take less than `budget`
  // cycles. Leaves the shape as it was.
  double LimitOf(const StagePlace& reader, size_t operand, double budget, GroupShape* shape) const;

  // Solves a contraction whose operands stay where they are, and adds what it takes to fetch a tile. False:
  // the shape does not take less than `budget` cycles.
  absl::StatusOr<bool> SolveAsItIs(const StagePlace& place, double budget, GroupShape* shape) const;

  // Makes all readers read a copy as `decision` makes it. The decision is one of the spec that `asks`, one of
  // the readers, has with a constant. Afterwards the readers have no programs. A copy made ahead of all calls
  // is read from where the constant would be.
  void Copy(const Readers& readers, const StagePlace& asks, const Decision& decision, GroupShape* shape);

  // Solves the readers, with a copy or without, whichever is cheaper. Other contractions count at their
  // cycles or bounds. False: the shape does not take less than `budget` cycles. An error is a search's, or
  // says what is wrong with the schedule.
  absl::StatusOr<bool> Decide(const Readers& readers, double budget, GroupShape* shape,
                              GroupDecision* decision);

 private:
  int CopiedOperand(const GroupShape& shape, const StagePlace& place) const;
  bool IsOnce(const GroupShape& shape, const StagePlace& reader, size_t operand) const;
  bool IsPrepacked(const GroupShape& shape, const StagePlace& reader, size_t operand) const;
  absl::StatusOr<bool> SolveAll(const Readers& readers, double budget, GroupShape* shape) const;
  std::vector<Stage>* PacksFor(const StagePlace& reader, size_t operand, GroupShape* shape) const;
  Stage LeastPack(const Stage& constant) const;
  const CopiesOfConstant* PackedAs(int constant) const;
  bool MayLie(const Readers& readers, const GroupShape& shape) const;
  std::vector<Decision> FindPacks(const GroupShape& shape, const StagePlace& asks, size_t operand,
                                  const CopiesOfConstant& copies) const;
  Stage MakePack(const GroupShape& shape, const StagePlace& asks, size_t operand,
                 const Decision& decision) const;
  absl::StatusOr<bool> ChooseCopy(const Readers& readers, double budget, GroupShape* shape, Decision* chosen);
  const CopySchedule* PinnedFor(const Readers& readers) const;
  bool IsPinned(const Readers& readers) const;
  absl::StatusOr<bool> Replay(const Readers& readers, const CopySchedule& schedule, GroupShape* shape,
                              Decision* chosen);

  const Graph& graph_;
  const CostModel& model_;
  const GroupCost cost_;
  GroupLevels& levels_;
  const Solve solve_;
  int next_value_;
  const PlanPacking& packing_;
  const GroupSchedule* const pinned_;
  const std::string_view source_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_OPERAND_COPIES_H_
