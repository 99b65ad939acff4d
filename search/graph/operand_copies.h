// SPDX-License-Identifier: Apache-2.0
// Copies of matrices that contractions of a fusion group read: once for all tiles, or, of constants, once for
// all calls.
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

// A stage of a shape, and its number in GroupDecision.
struct StagePlace {
  int number = 0;
  size_t nest = 0;
  std::vector<Stage> LoopNest::* list = nullptr;
  size_t place = 0;

  Stage& In(GroupShape& shape) const { return (shape.nests[nest].*list)[place]; }
  const Stage& In(const GroupShape& shape) const { return (shape.nests[nest].*list)[place]; }
};

// All stages that are no copies.
std::vector<StagePlace> FindPlaces(const GroupShape& shape);

// One copy is a decision above all that read it: they all take it or none does, and it lies as one of them,
// whichever makes all of them cheapest together, would have it. With several threads one matrix is decided
// after the other.
class OperandCopies {
 public:
  // The contractions that read one matrix, as their operand `operand`.
  struct Readers {
    size_t operand = 0;
    std::vector<StagePlace> stages;
  };
  // Fills in a placed contraction's program and cycles, for the stage of that number, or none if it is
  // negative. False: they are at least `limit` cycles.
  using Solve = std::function<absl::StatusOr<bool>(int number, double limit, Stage* stage)>;

  // All outlive it. Numbers of copies begin at `next_value`. `packing`: see PlanOptions; `pinned`: null, or
  // what decides instead; `source`: what errors call it.
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

  // Of every matrix that may be copied.
  std::vector<Readers> FindReaders(const GroupShape& shape) const;

  // Does the shape make nothing of constants that the packing lacks, whatever is copied?
  bool SuitsPacking(const GroupShape& shape) const;

  // The stage as if the matrix were constant, so that it may be copied to where the copy is to be. It costs
  // no more than with any copy.
  Stage WithConstant(const GroupShape& shape, const StagePlace& reader, size_t operand) const;

  // Is there room for a copy, as `decision` makes it, beside what each of its readers reads?
  bool Fits(const GroupShape& shape, const Readers& readers, const Decision& decision) const;

  // If the shape is to take less than `budget` cycles with a copy, the reader takes less than this with it.
  double LimitOf(const GroupShape& shape, const StagePlace& reader, size_t operand, double budget) const;

  // Solves a contraction whose operands are where they are, what it takes to fetch a tile included. False:
  // the shape does not take less than `budget` cycles.
  absl::StatusOr<bool> SolveAsItIs(const StagePlace& place, double budget, GroupShape* shape) const;

  // Has the readers read a copy as `decision` makes it, of the spec that `asks`, one of them, has with a
  // constant. They have no programs then. What is made ahead of all calls each reads from where it would read
  // the constant.
  void Copy(const Readers& readers, const StagePlace& asks, const Decision& decision, GroupShape* shape);

  // Solves the readers, with a copy or without, other contractions having cycles or bounds. False: the shape
  // does not take less than `budget` cycles. An error is the search's, or says what is wrong with the
  // schedule.
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
