// SPDX-License-Identifier: Apache-2.0
#include "search/graph/group_levels.h"

#include <algorithm>

#include "cost/copy_cost.h"
#include "spec/expansion.h"
#include "spec/storage.h"

namespace kirsch {
namespace {

// The share of a cache that values between stages may take. The rest of it is left for what streams by.
constexpr double kShareOfBuffers = 0.5;

// Elements from a window to the next one that a thread meets, if they have some in common; else 0. The thread
// finds the common elements where the last window left them. Threads that share tiles take every `threads`-th
// one.
int64_t StepOfWindow(const LoopNest& nest, const Stage& stage, int operand, int threads) {
  if (!IsWindow(stage.spec, operand)) return 0;
  const StageOperand& at = stage.operands[static_cast<size_t>(operand)];
  const int64_t apart = nest.sharing == Sharing::kTiles ? threads : 1;
  const int64_t step = stage.repeats > 1  ? at.repeat_stride
                       : nest.trips() > 1 ? at.row_stride * nest.tile * apart
                                          : 0;
  return step < RootElements(stage.spec, operand) ? step : 0;
}

Dtype TypeOf(const Spec& spec, int operand) { return spec.tensor(operand).dtype; }

int64_t OperandBytes(const Spec& spec, int operand) {
  return Bytes(TypeOf(spec, operand), ExtentOf(spec, operand).elements());
}

// The bytes of an operand where it is asked for. Elements that rows of a window share count once.
int64_t RootBytes(const Spec& spec, int operand) {
  return Bytes(TypeOf(spec, operand), RootElements(spec, operand));
}

// True if each of several repeats reads all of an input, so that it may be where the last one left it.
bool IsReadByAllRepeats(const Stage& stage, int operand) {
  return stage.repeats > 1 && stage.loop == 0 && operand < MatmulDims::kOut &&
         stage.operands[static_cast<size_t>(operand)].repeat_stride == 0;
}

// The tiles that read all of an input, each after the other; 1 if they read parts of it, or make it.
int64_t TilesThatReadAll(const LoopNest& nest, const Stage& stage, int operand) {
  const StageOperand& at = stage.operands[static_cast<size_t>(operand)];
  return at.row_stride == 0 && !Makes(nest.stages, at.value) ? nest.tiles() : 1;
}

// True if every tile reads all of the operand, so that it may be where the last tile left it.
bool IsReadByAllTiles(const LoopNest& nest, const Stage& stage, int operand) {
  return operand < MatmulDims::kOut && !IsReadByAllRepeats(stage, operand) &&
         TilesThatReadAll(nest, stage, operand) > 1;
}

// Bytes of all such operands in a nest.
int64_t BytesForAllTiles(const LoopNest& nest) {
  int64_t bytes = 0;
  for (const Stage& stage : nest.stages)
    for (int operand = 0; stage.kind == StageKind::kContraction && operand < MatmulDims::kOut; ++operand)
      if (IsReadByAllTiles(nest, stage, operand)) bytes += stage.repeats * OperandBytes(stage.spec, operand);
  return bytes;
}

// True if the buffer is made before the tiles, and several tiles read it.
bool IsForAllTiles(const GroupShape& shape, const Buffer& buffer) {
  return (shape.nests.size() > 1 || shape.nests.front().tiles() > 1) &&
         std::any_of(shape.nests.begin(), shape.nests.end(), [&](const LoopNest& nest) {
           return Makes(nest.before, buffer.value) || Makes(nest.once, buffer.value);
         });
}

}  // namespace

// Does one of the stages write the value?
bool Makes(const std::vector<Stage>& stages, int value) {
  return std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    // Behind the inputs come the results. A row program may have several, all other stages have one; what
    // follows that is read by their epilogues.
    const size_t inputs = stage.kind == StageKind::kRows          ? stage.program.inputs.size()
                          : stage.kind == StageKind::kContraction ? size_t{MatmulDims::kOut}
                                                                  : 1;
    for (size_t i = inputs; i < stage.operands.size(); ++i)
      if (stage.operands[i].value == value && (stage.kind == StageKind::kRows || i == inputs)) return true;
    return false;
  });
}

namespace {

// The values that a call finds in memory, by their numbers: parameters, and values made of constants. A
// constant parameter that is read only to compute others ahead does not count, as no call touches it.
std::vector<bool> HandedOver(const Graph& graph) {
  std::vector<bool> by_calls(graph.nodes.size()), ahead(graph.nodes.size());  // who reads the value
  for (const GraphNode& node : graph.nodes)
    for (const int input : node.inputs) (node.constant ? ahead : by_calls)[static_cast<size_t>(input)] = true;
  std::vector<bool> handed(graph.nodes.size());
  const auto inputs = static_cast<size_t>(graph.num_inputs());
  for (size_t i = 0; i < handed.size(); ++i)
    handed[i] = graph.nodes[i].constant ? by_calls[i] || (i < inputs && !ahead[i]) : i < inputs;
  return handed;
}

// The values that are placed in RAM, by their numbers. One made of constants is placed where one of them
// would be: in RAM if any is.
std::vector<bool> PlacedInRam(const Graph& graph, Residency residency) {
  std::vector<bool> in_ram;
  for (const GraphNode& node : graph.nodes)
    in_ram.push_back(node.op == Operation::kInput
                         ? residency.InRam(static_cast<int>(in_ram.size()))
                         : std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](int input) { return in_ram[static_cast<size_t>(input)]; }));
  return in_ram;
}

}  // namespace

Level PlacementOf(const Graph& graph, Residency residency, const Target& target) {
  if (residency == Residency::kCold) return Level::kRam;
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.results.size(); ++i)
    if (!residency.InRam(graph.num_inputs() + static_cast<int>(i)))
      bytes += graph.TypeOf(graph.results[i]).bytes();
  const std::vector<bool> handed = HandedOver(graph), in_ram = PlacedInRam(graph, residency);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (handed[i] && !in_ram[i]) bytes += graph.nodes[i].type.bytes();
  for (Level level : {Level::kL1, Level::kL2, Level::kL3})
    if (bytes <= target.at(level).bytes) return level;
  return Level::kRam;
}

GroupLevels::GroupLevels(const Graph& graph, const Target& target, Residency residency,
                         std::optional<Level> placement, Workers workers, int threads)
    : graph_(graph),
      target_(target),
      workers_(workers),
      threads_(threads),
      residency_(residency),
      placement_(placement ? *placement : PlacementOf(graph, residency, target)),
      in_ram_(PlacedInRam(graph, residency)) {}

// The level at which so many bytes of values between stages stay. `all`: these are all bytes that a tile goes
// through, so they may take the whole share that a cache allows.
Level GroupLevels::LevelOfBuffers(int64_t bytes, bool all) const {
  return LevelOfBuffers(bytes, fastest_, all);
}

Level GroupLevels::LevelOfBuffers(int64_t bytes, Level fastest, bool all) const {
  for (Level level : {Level::kL1, Level::kL2, Level::kL3}) {
    // No level faster than `fastest`, unless the caller's values are in one themselves.
    if (level < std::min(fastest, placement_)) continue;
    const MemoryLevel& cache = target_.at(level);
    const int threads = std::min(threads_, cache.threads_per_cache);
    const double share = all ? cache.capacity_share : kShareOfBuffers;
    if (static_cast<double>(bytes * threads) <= share * static_cast<double>(cache.bytes)) return level;
  }
  return Level::kRam;
}

// In this order: a buffer of this group; a constant; a parameter or a result; a value that an earlier group
// made. Residency has the results behind the parameters.
Level GroupLevels::LevelOf(int value) const {
  const auto known = levels_.find(value);
  if (known != levels_.end()) return known->second;
  const GraphNode& node = graph_.at(value);
  if (node.constant) return in_ram_[static_cast<size_t>(value)] ? Level::kRam : placement_;
  const std::optional<size_t> result = graph_.FindResult(value);
  if (node.op == Operation::kInput || result)
    return residency_.InRam(result ? graph_.num_inputs() + static_cast<int>(*result) : value) ? Level::kRam
                                                                                              : placement_;
  // What threads have made together is not in the caches of one.
  const Level level = LevelOfBuffers(node.type.bytes());
  return workers_ == Workers::kShared ? std::max(level, Level::kL3) : level;
}

// Copies made ahead are placed where the constants would be that they are made of.
Level GroupLevels::PlacementOfPrepacked(const GroupShape& shape, int value) const {
  Level placement = placement_;
  for (const Stage& stage : shape.prepacks) {
    if (!Makes({stage}, value)) continue;
    for (const StageOperand& operand : stage.operands)
      if (graph_.IsConstant(operand.value) && in_ram_[static_cast<size_t>(operand.value)])
        placement = Level::kRam;
  }
  return placement;
}

// True if the buffer is a tile: it is no node of the graph, or smaller than one.
bool GroupLevels::IsLocal(const Buffer& buffer) const {
  return buffer.value >= static_cast<int>(graph_.nodes.size()) ||
         buffer.bytes < graph_.at(buffer.value).type.bytes();
}

bool GroupLevels::MayKeepInL1(const GroupShape& shape) const {
  if (placement_ == Level::kL1 || shape.nests.front().stages.size() < 2) return false;
  int64_t local = 0;
  for (const Buffer& buffer : shape.buffers)
    local += IsLocal(buffer) && !Makes(shape.prepacks, buffer.value) ? buffer.bytes : 0;
  return local > 0 && LevelOfBuffers(local, Level::kL1, false) == Level::kL1;
}

// Tiles stay together in one level. A buffer that crosses tiles must have room beside them.
void GroupLevels::Place(const GroupShape& shape, Level keep) {
  fastest_ = keep;
  levels_.clear();
  // Copies made ahead are no buffers of the call, so they take no room here.
  int64_t local = 0, crossing = 0;
  const auto is_local = [&](const Buffer& buffer) {
    return IsLocal(buffer) && !IsForAllTiles(shape, buffer);
  };
  for (const Buffer& buffer : shape.buffers)
    if (!Makes(shape.prepacks, buffer.value)) (is_local(buffer) ? local : crossing) += buffer.bytes;
  local_bytes_ = local;
  for (const Buffer& buffer : shape.buffers)
    levels_[buffer.value] = Makes(shape.prepacks, buffer.value)
                                ? PlacementOfPrepacked(shape, buffer.value)
                                : LevelOfBuffers(is_local(buffer) ? local : crossing + local);
}

std::vector<Level> GroupLevels::LevelsOf(const Stage& stage) const {
  std::vector<Level> levels;
  for (const StageOperand& operand : stage.operands) levels.push_back(LevelOf(operand.value));
  return levels;
}

void GroupLevels::PlaceSpec(const LoopNest& nest, Stage* stage) const {
  Spec& spec = stage->spec;
  // Where the value is, but closer if the last tile, or the stage before, has left it in a faster cache.
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    Level& level = spec.tensor(operand).level;
    level = IsVectorOfEpilogue(spec, operand) ? Level::kL1
                                              : LevelOf(stage->operands[static_cast<size_t>(operand)].value);
    if (StepOfWindow(nest, *stage, operand, threads_) > 0)
      level = std::min(level, LevelOfBuffers(RootBytes(spec, operand)));
    if (IsReadByAllTiles(nest, *stage, operand))
      level = std::min(level, LevelOfBuffers(local_bytes_ + BytesForAllTiles(nest)));
    if (IsReadByAllRepeats(*stage, operand))
      level = std::min(level, LevelOfBuffers(local_bytes_ + RootBytes(spec, operand)));
    if (operand == MatmulDims::kOut && spec.accumulate)  // the stage before has just made it
      level = std::min(level, LevelOfBuffers(local_bytes_ + OperandBytes(spec, operand)));
  }
  MakeRoom(&spec);
  (nest.sharing == Sharing::kStage ? spec.threads : spec.active_threads) = static_cast<uint8_t>(threads_);
}

double GroupLevels::FetchCycles(const LoopNest& nest, const Stage& stage) const {
  double cycles = 0;
  for (int operand = 0; operand < MatmulDims::kOut; ++operand) {
    const Level level = LevelOf(stage.operands[static_cast<size_t>(operand)].value);
    cycles += ReadCycles(Bytes(TypeOf(stage.spec, operand), StepOfWindow(nest, stage, operand, threads_)),
                         level, target_);
    // The spec has the operand where the tiles leave it. Its way there is paid once, and shared by all tiles.
    if (IsReadByAllTiles(nest, stage, operand) && stage.spec.tensor(operand).level < level)
      cycles +=
          ReadCycles(OperandBytes(stage.spec, operand), level, target_) / static_cast<double>(nest.tiles());
    if (IsReadByAllRepeats(stage, operand) && stage.spec.tensor(operand).level < level)
      cycles += ReadCycles(RootBytes(stage.spec, operand), level, target_) /
                static_cast<double>(stage.repeats * TilesThatReadAll(nest, stage, operand));
  }
  return static_cast<double>(stage.repeats) * cycles;
}

// Moves the fastest operands one level further away, until there is room for the copy that no program can do
// without.
void GroupLevels::MakeRoom(Spec* spec) const {
  while (!HasRoom(*spec, target_)) {
    const Level fastest = FillingLevel(*spec);
    for (int operand = 0; operand <= spec->op_info().output(); ++operand)
      if (Level& level = spec->operand[static_cast<size_t>(operand)].level; level == fastest)
        level = static_cast<Level>(static_cast<int>(level) + 1);
  }
}

Level GroupLevels::LevelForCopy(const LoopNest& nest, Level from) const {
  return std::min(from, LevelOfBuffers(local_bytes_ + BytesForAllTiles(nest), true));
}

}  // namespace kirsch
