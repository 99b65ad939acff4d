// SPDX-License-Identifier: Apache-2.0
// How a graph is computed: loop nests one after the other, each over tiles of rows; in a nest, stages,
// whose values between them are tiles in scratch memory.
#ifndef KIRSCH_SPEC_PROGRAM_PLAN_H_
#define KIRSCH_SPEC_PROGRAM_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"
#include "spec/impl.h"
#include "spec/level.h"
#include "spec/program/group_decision.h"
#include "spec/program/kernel_shape.h"
#include "spec/spec.h"
#include "spec/traffic.h"
#include "spec/winograd.h"

namespace kirsch {

// A matrix that a stage reads or writes, in elements of its value. For item `b` of the nest's batch, rows
// from `m` on and the i-th of the stage's repeats, it begins at offset + b * batch_stride + m * row_stride +
// i * repeat_stride.
struct StageOperand {
  int value = -1;  // a node of the graph, or beyond its nodes a buffer of Plan::buffers
  int64_t offset = 0, batch_stride = 0, row_stride = 0, repeat_stride = 0;
  bool batch_grows = false;  // batch_stride, in proportion to the number of rows (Plan::sizes)
};

enum class StageKind : uint8_t {
  kContraction,  // a spec's program
  kPack,         // the copy that a constant operand's first decision makes
  kRows,         // a row program
  kPad,          // an image with zeros around it
  kTranspose,    // a matrix, turned
  kTransform,    // a step of Winograd's algorithm
};

struct Stage {
  StageKind kind = StageKind::kRows;
  // kContraction: as the spec's operands. kRows: the program's inputs, then its results. Else: from, to; then
  // what the transform's epilogue takes.
  std::vector<StageOperand> operands;
  Spec spec = {};       // kContraction, kPack: what is to be computed
  Impl impl = {};       // its program
  int64_t repeats = 1;  // so many, one after the other
  // Neighbours of as many repeats with the same number, not 0, take turns: the first repeat of each, then the
  // second, and so on.
  int loop = 0;
  // Where the number of keys is known when the kernel runs: the stage is for blocks of so many, and repeated
  // as often as there are in what larger blocks have left; or, `at_once`, it is for all that they have left,
  // so many at most. 0: it is for no keys in particular.
  int64_t keys = 0;
  bool at_once = false;
  // Of the latter: along which dim of the spec there are as many as there are keys (of a row program they are
  // its columns: MatmulDims::kN); -1: along none.
  int keys_along = -1;
  // Where a nest's rows are known when the kernel runs (LoopNest::rows_grow): are there as many of the
  // stage's rows (along M of its spec), or elements of its only row, as of the tile's?
  bool any_rows = false, any_columns = false;
  // Do the columns of a row program grow in proportion to the number of rows (Plan::sizes)? So they do where
  // that number counts columns. Then distances of rows may be kDenseRows.
  bool columns_grow = false;
  RowProgram program = {};  // kRows
  RowSchedule schedule = {};
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> row_strides = {};  // of the operands; 0: the same for all rows
  bool in_place = false;                  // results replace inputs
  CopyShape copy = {};
  TransformShape transform = {};
  double cycles = 0;  // of one run, with all its repeats
  // kRows, kPad, kTranspose, kTransform: where the operands are, and what such a run moves. (Of the others,
  // their programs say it.)
  std::vector<Level> levels = {};
  Traffic traffic = {};
};

enum class Sharing : uint8_t { kNone, kItems, kTiles, kStage };

// Stages that run over the same tiles of rows, for each item of a batch.
struct LoopNest {
  int group = 0;  // its place in Plan::groups
  int64_t batch = 1;
  int64_t rows = 1, tile = 1;  // of each item of the batch
  // In proportion to the number of rows (Plan::sizes): then they are for what is `planned`, and so is the
  // tile, if it is all rows; `rest` is for any number of rows below a tile's.
  bool batch_grows = false, rows_grow = false;
  std::vector<Stage> before;        // once, before all items
  std::vector<Stage> once;          // for each item, before its tiles
  std::vector<Stage> stages, rest;  // for each whole tile; for what is left of the rows
  // How threads share the work: they take items of the batch (then `once` is theirs, too), or tiles, or the
  // only stage shares it out itself. What comes before, each does for itself; so it does all with kNone.
  Sharing sharing = Sharing::kNone;
  // Nests of one phase don't wait for each other, but for a thread's own kNone; phases do: when a phase
  // begins, all threads are done with those before. Ascending.
  int phase = 0;
  double cycles = 0;

  int64_t trips() const { return rows / tile; }
  int64_t tiles() const { return trips() + (rest.empty() ? 0 : 1); }
};

// Memory of a value that is neither a parameter nor the result; or a constant's copy.
struct Buffer {
  int value = -1;
  int64_t bytes = 0;
};

enum class PlanSizeKind : uint8_t { kRows, kKeys };

// A size that is known when the kernel runs.
struct PlanSize {
  PlanSizeKind kind = PlanSizeKind::kRows;
  std::string name;
  int64_t least = 1, most = 1;
  int64_t planned = 1;  // kRows: that numbers are for which grow with it
};

struct Plan {
  Graph graph;
  // One of each kind at most, in the order of the kernel's parameters; `graph` is that of the most.
  std::vector<PlanSize> sizes = {};
  // What is made of the constant parameters, once for all calls: they are read here and nowhere else, which
  // is why those that are read as they lie are copied. `folded`: the operations on them that `graph` calls
  // constant, whose values are constants themselves then. Then `prepacks`: copies and transforms.
  std::vector<LoopNest> folded = {};
  std::vector<Stage> prepacks;
  std::vector<GroupDecision> groups;  // in the order in which they are computed
  std::vector<LoopNest> nests;
  std::vector<Buffer> buffers;
  int threads = 1;    // that it is for
  double cycles = 0;  // predicted

  // Null: that number is known ahead.
  const PlanSize* size(PlanSizeKind kind) const {
    const auto is_it = [kind](const PlanSize& size) { return size.kind == kind; };
    const auto found = std::find_if(sizes.begin(), sizes.end(), is_it);
    return found == sizes.end() ? nullptr : &*found;
  }

  int phases() const { return nests.empty() ? 1 : nests.back().phase + 1; }

  // Of a group, its nests together.
  double GroupCycles(size_t group) const {
    double sum = 0;
    for (const LoopNest& nest : nests) sum += nest.group == static_cast<int>(group) ? nest.cycles : 0;
    return sum;
  }
};

// The nest's stages, in their order.
template <typename NestType>
auto StagesOf(NestType& nest) {
  std::vector<decltype(nest.stages.data())> stages;
  for (auto* list : {&nest.before, &nest.once, &nest.stages, &nest.rest})
    for (auto& stage : *list) stages.push_back(&stage);
  return stages;
}

// The stages of a group that GroupDecision has numbers for, in their order.
inline std::vector<const Stage*> NumberedStages(const Plan& plan, size_t group) {
  std::vector<const Stage*> stages;
  for (const LoopNest& nest : plan.nests) {
    if (nest.group != static_cast<int>(group)) continue;
    for (const Stage* stage : StagesOf(nest))
      if (stage->kind != StageKind::kPack) stages.push_back(stage);
  }
  return stages;
}

// The convolutions by Winograd's algorithm, as nodes, and the sides of their squares of outputs.
std::map<int, int> WinogradConvolutions(const Plan& plan);

// For people: a line for each nest and stage.
std::string PrintPlan(const Plan& plan);

// A stage on one line: "contraction(v7, v, out) matmul f32 ...".
std::string PrintStage(const Plan& plan, const Stage& stage);

// One line, whatever the sizes: what the nests compute, with | between them.
std::string PlanOutline(const Plan& plan);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PLAN_H_
