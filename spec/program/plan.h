// SPDX-License-Identifier: Apache-2.0
// Says how a graph is computed: loop nests one after the other, each over tiles of rows. A nest consists of
// stages; the values between them are tiles in scratch memory.
//
// Example: softmax(matmul(x, w)) in one nest of 32 rows, tiles of 8: each of the 4 trips runs a contraction
// of 8 rows, which writes a buffer, and a row program, which reads it while it is in the cache.
#ifndef KIRSCH_SPEC_PROGRAM_PLAN_H_
#define KIRSCH_SPEC_PROGRAM_PLAN_H_

#include <algorithm>
#include <array>
#include <cstddef>
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
#include "spec/program/size.h"
#include "spec/spec.h"
#include "spec/traffic.h"
#include "spec/winograd.h"

namespace kirsch {

// A matrix that a stage reads or writes, in elements of its value. For item `b` of the nest's batch, rows
// from `m` on and the stage's repeat `i`, it begins at
//   offset + b * batch_stride + m * row_stride + i * repeat_stride
struct StageOperand {
  int value = -1;  // a node of the graph, or beyond its nodes a buffer of Plan::buffers
  int64_t offset = 0;
  Size batch_stride = 0;
  int64_t row_stride = 0, repeat_stride = 0;
};

enum class StageKind : uint8_t {
  kContraction,  // a spec's program
  kPack,         // the copy that a constant operand's first decision makes
  kRows,         // a row program
  kPad,          // an image with zeros around it
  kTranspose,    // a matrix, turned
  kTransform,    // a step of Winograd's algorithm
};

// One step of a nest, for one tile of rows. The members for other kinds of stages keep their defaults.
struct Stage {
  StageKind kind = StageKind::kRows;
  // The order of the operands. kContraction: that of the spec. kRows: the program's inputs, then its results.
  // Others: from, to, and then the operands of the transform's epilogue.
  std::vector<StageOperand> operands;
  Spec spec = {};       // kContraction, kPack: what is to be computed
  Impl impl = {};       // its program
  int64_t repeats = 1;  // so many, one after the other
  // Neighbouring stages with the same number, not 0, and as many repeats take turns: the first repeat of
  // each, then the second of each, and so on. So a value of one repeat is used while it is in the cache.
  int loop = 0;
  // The keys of a repeat, if the number of all keys is a symbol. A constant: the stage is repeated as often
  // as the keys that larger blocks left have room for such a block. With kKeysLeft it takes all of these at
  // once. Example: 100 keys with stages for 64 and 16 are 64 + 16 + 16, and a stage for kKeysLeft takes the
  // last 4. 0: the stage is for no keys in particular.
  Size keys = 0;
  // kContraction: the symbols of the spec's dims. Its own sizes are the most that these can be.
  std::array<SizeSymbol, kMaxDims> symbols = {};
  RowProgram program = {};  // kRows
  RowSchedule schedule = {};
  Size rows = 0, columns = 0;
  std::vector<Size> row_strides = {};  // of the operands; 0: the same for all rows
  bool in_place = false;               // results replace inputs
  CopyShape copy = {};
  TransformShape transform = {};
  double cycles = 0;  // of one run, with all its repeats
  // For kRows, kPad, kTranspose and kTransform: the level that each operand is in, and what one run moves
  // between levels. The other stages' programs say it themselves.
  std::vector<Level> levels = {};
  Traffic traffic = {};

  // The sizes along the dims of the spec; a row program has its rows along M and its columns along N.
  std::array<Size, kMaxDims> Sizes() const {
    std::array<Size, kMaxDims> sizes = {};
    for (size_t dim = 0; dim < sizes.size(); ++dim) sizes[dim] = {symbols[dim], spec.size[dim]};
    if (kind != StageKind::kRows) return sizes;
    sizes[MatmulDims::kM] = rows;
    sizes[MatmulDims::kN] = columns;
    return sizes;
  }
};

// How threads share a nest's work; LoopNest::sharing has the meanings.
enum class Sharing : uint8_t { kNone, kItems, kTiles, kStage };

// Runs its stages over the same tiles of rows, for each item of a batch.
struct LoopNest {
  int group = 0;  // its place in Plan::groups
  Size batch = 1;
  Size rows = 1, tile = 1;    // of each item of the batch
  std::vector<Stage> before;  // once, before all items
  std::vector<Stage> once;    // for each item, before its tiles
  std::vector<Stage> stages;  // for each whole tile
  std::vector<Stage> rest;    // for what is left of the rows: any number of them, if these have a symbol
  // How threads share the work. kItems: they take items of the batch, each with `once` of its own. kTiles:
  // they take tiles. kStage: the only stage shares its own work out. kNone: each thread does everything for
  // itself, as it always does with `before`.
  Sharing sharing = Sharing::kNone;
  // All threads are done with the earlier phases when a phase begins. Nests of one phase do not wait for each
  // other; a nest may use only what the same thread made before it with kNone. Ascending over the plan.
  int phase = 0;
  double cycles = 0;

  int64_t trips() const { return rows / tile; }
  int64_t tiles() const { return trips() + (rest.empty() ? 0 : 1); }
};

// The memory of a value that is neither a parameter nor a result, or of a constant's copy.
struct Buffer {
  int value = -1;
  int64_t bytes = 0;
};

// The whole plan of a graph. PlanWriter (plan_program.cc) turns it into a Program.
struct Plan {
  Graph graph;
  // Each symbol at most once, in the order of the kernel's parameters. `graph` has their largest values.
  std::vector<SymbolRange> symbols = {};
  // Everything that is made of the constant parameters, once before all calls. Calls never read these
  // parameters themselves; one that is read where it lies is copied, too. First comes `folded`: the
  // operations on constants that `graph` marks as constant, whose values are constants themselves. Then come
  // `prepacks`: copies and transforms.
  std::vector<LoopNest> folded = {};
  std::vector<Stage> prepacks;
  std::vector<GroupDecision> groups;  // in the order in which they are computed
  std::vector<LoopNest> nests;
  std::vector<Buffer> buffers;
  int threads = 1;    // that it is for
  double cycles = 0;  // predicted

  // Returns nullptr if the number is known ahead.
  const SymbolRange* Find(SizeSymbol symbol) const {
    const auto is_it = [symbol](const SymbolRange& range) { return range.symbol == symbol; };
    const auto found = std::ranges::find_if(symbols, is_it);
    return found == symbols.end() ? nullptr : &*found;
  }

  int phases() const { return nests.empty() ? 1 : nests.back().phase + 1; }

  // Returns the predicted cycles of a group: the sum over its nests.
  double GroupCycles(size_t group) const {
    double sum = 0;
    for (const LoopNest& nest : nests) sum += nest.group == static_cast<int>(group) ? nest.cycles : 0;
    return sum;
  }
};

// Returns pointers to the nest's stages, in the order in which they run.
template <typename NestType>
auto StagesOf(NestType& nest) {
  std::vector<decltype(nest.stages.data())> stages;
  for (auto* list : {&nest.before, &nest.once, &nest.stages, &nest.rest})
    for (auto& stage : *list) stages.push_back(&stage);
  return stages;
}

// Returns the stages of a group that GroupDecision counts, in their order: all but copies.
inline std::vector<const Stage*> NumberedStages(const Plan& plan, size_t group) {
  std::vector<const Stage*> stages;
  for (const LoopNest& nest : plan.nests) {
    if (nest.group != static_cast<int>(group)) continue;
    for (const Stage* stage : StagesOf(nest))
      if (stage->kind != StageKind::kPack) stages.push_back(stage);
  }
  return stages;
}

// Maps the convolutions (as nodes) that the plan computes by Winograd's algorithm to the sides of their
// squares of outputs. References need it, since such results may be less exact.
std::map<int, int> WinogradConvolutions(const Plan& plan);

// Prints the plan for people: a line for each nest and stage.
std::string PrintPlan(const Plan& plan);

// Prints a stage on one line: "contraction(v7, v, out) matmul f32 ...".
std::string PrintStage(const Plan& plan, const Stage& stage);

// Prints in one line what the nests compute, with | between them. Sizes are left out.
std::string PlanOutline(const Plan& plan);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PLAN_H_
