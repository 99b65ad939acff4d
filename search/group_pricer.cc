#include "search/group_pricer.h"

#include <algorithm>
#include <tuple>

#include "cost/copy_cost.h"
#include "rewrites/rewrite.h"
#include "search/stage_cost.h"
#include "spec/expansion.h"
#include "spec/storage.h"

namespace kirsch {
namespace {

// A share of a cache that values between stages may take, so that the rest of it is left for what streams by.
constexpr double kShareOfBuffers = 0.5;

constexpr int64_t kLine = 64;  // bytes

std::vector<Stage*> StagesOf(Group& group) {
  std::vector<Stage*> stages;
  for (std::vector<Stage>* list : {&group.before, &group.once, &group.stages, &group.rest})
    for (Stage& stage : *list) stages.push_back(&stage);
  return stages;
}

double Sum(const std::vector<Stage>& stages) {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.cycles;
  return sum;
}

// Has the program's cost a section of several threads in it?
bool Forks(const Impl& impl) {
  return (impl.decision.kind == RewriteKind::kParallelTile && impl.decision.parts > 1) ||
         std::any_of(impl.children.begin(), impl.children.end(),
                     [](const Impl::Child& child) { return Forks(child.impl); });
}

// Does one of the stages write the value?
bool Makes(const std::vector<Stage>& stages, int value) {
  return std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    const size_t inputs = stage.kind == StageKind::kRows          ? stage.program.inputs.size()
                          : stage.kind == StageKind::kContraction ? size_t{MatmulDims::kOut}
                                                                  : 1;
    for (size_t i = inputs; i < stage.operands.size(); ++i)
      if (stage.operands[i].value == value && (stage.kind == StageKind::kRows || i == inputs)) return true;
    return false;
  });
}

int64_t ElementBytes(const Spec& spec, int operand) {
  return Bytes(spec.operand[static_cast<size_t>(operand)].dtype);
}

// Elements from a window to the next one that a thread meets, where they have some in common; else 0. It
// finds those where the last one left them.
int64_t StepOfWindow(const Group& group, const Stage& stage, int operand, int threads) {
  if (!IsWindow(stage.spec, operand)) return 0;
  const StageOperand& at = stage.operands[static_cast<size_t>(operand)];
  const int64_t apart = group.sharing == Sharing::kTiles ? threads : 1;
  const int64_t step = stage.repeats > 1   ? at.repeat_stride
                       : group.trips() > 1 ? at.row_stride * group.tile * apart
                                           : 0;
  return step < RootElements(stage.spec, operand) ? step : 0;
}

int64_t BytesOf(const Spec& spec, int operand) {
  return ExtentOf(spec, operand).elements() * ElementBytes(spec, operand);
}

// Does every tile read all of it, so that it may be where the last tile left it?
bool IsReadByAllTiles(const Group& group, const Stage& stage, int operand) {
  const StageOperand& at = stage.operands[static_cast<size_t>(operand)];
  return group.tiles() > 1 && (stage.repeats == 1 || stage.loop != 0) && operand < MatmulDims::kOut &&
         at.row_stride == 0 && !Makes(group.stages, at.value);
}

// Of all such operands.
int64_t BytesForAllTiles(const Group& group) {
  int64_t bytes = 0;
  for (const Stage& stage : group.stages)
    for (int operand = 0; stage.kind == StageKind::kContraction && operand < MatmulDims::kOut; ++operand)
      if (IsReadByAllTiles(group, stage, operand)) bytes += stage.repeats * BytesOf(stage.spec, operand);
  return bytes;
}

// Does every one of several tiles read all of it?
bool IsForAllTiles(const GroupShape& shape, const Buffer& buffer) {
  return (shape.groups.size() > 1 || shape.groups.front().tiles() > 1) &&
         std::any_of(shape.groups.begin(), shape.groups.end(), [&](const Group& group) {
           return Makes(group.before, buffer.value) || Makes(group.once, buffer.value);
         });
}

}  // namespace

GroupPricer::GroupPricer(const GraphUses& uses, const CostModel& model, const PlanOptions& options)
    : uses_(uses),
      graph_(uses.graph()),
      model_(model),
      target_(model.target()),
      options_(options),
      home_(HomeLevel()) {}

// The fastest level that holds all that the caller hands over.
Level GroupPricer::HomeLevel() const {
  int64_t bytes = graph_.at(graph_.result).type.bytes();
  for (int i = 0; i < graph_.num_inputs(); ++i) bytes += graph_.at(i).type.bytes();
  if (options_.residency == Residency::kCold) return Level::kRam;
  for (Level level : {Level::kL1, Level::kL2, Level::kL3})
    if (bytes <= target_.at(level).bytes) return level;
  return Level::kRam;
}

// Where so many bytes of values between stages stay. `all`: those of all that a tile goes through.
Level GroupPricer::LevelOfBuffers(int64_t bytes, bool all) const {
  for (Level level : {Level::kL1, Level::kL2, Level::kL3}) {
    if (level < std::min(fastest_, home_)) continue;
    const MemoryLevel& cache = target_.at(level);
    const int sharers = std::min(threads_, cache.sharers);
    const double share = all ? cache.usable : kShareOfBuffers;
    if (static_cast<double>(bytes * sharers) <= share * static_cast<double>(cache.bytes)) return level;
  }
  return Level::kRam;
}

Level GroupPricer::LevelOf(int value) const {
  const auto known = levels_.find(value);
  if (known != levels_.end()) return known->second;
  const GraphNode& node = graph_.at(value);
  if (node.op == Operation::kInput || value == graph_.result) return home_;
  // What threads have made together is not in the caches of one.
  const Level level = LevelOfBuffers(node.type.bytes());
  return workers_ == Workers::kShared ? std::max(level, Level::kL3) : level;
}

// Is it no whole value of the graph's?
bool GroupPricer::IsLocal(const Buffer& buffer) const {
  return buffer.value >= static_cast<int>(graph_.nodes.size()) ||
         buffer.bytes < graph_.at(buffer.value).type.bytes();
}

// Could tiles between stages stay in L1? What is there keeps others from the levels beyond
// (rewrites/README.md), so that it need not be the better place.
bool GroupPricer::UsesL1(const GroupShape& shape) const {
  if (home_ == Level::kL1 || shape.groups.front().stages.size() < 2) return false;
  int64_t local = 0;
  for (const Buffer& buffer : shape.buffers)
    local += IsLocal(buffer) && !Makes(shape.ahead, buffer.value) ? buffer.bytes : 0;
  return local > 0 && LevelOfBuffers(local) == Level::kL1;
}

// Where values are: buffers of the group, of groups before, or the caller's.
void GroupPricer::PlaceValues(const GroupShape& shape) {
  levels_.clear();
  int64_t local = 0, crossing = 0;
  const auto is_local = [&](const Buffer& buffer) {
    return IsLocal(buffer) && !IsForAllTiles(shape, buffer);
  };
  for (const Buffer& buffer : shape.buffers)
    if (!Makes(shape.ahead, buffer.value)) (is_local(buffer) ? local : crossing) += buffer.bytes;
  local_bytes_ = local;
  for (const Buffer& buffer : shape.buffers)
    levels_[buffer.value] = Makes(shape.ahead, buffer.value)
                                ? home_
                                : LevelOfBuffers(is_local(buffer) ? local : crossing + local);
}

std::vector<Level> GroupPricer::LevelsOf(const Stage& stage) const {
  std::vector<Level> levels;
  for (const StageOperand& operand : stage.operands) levels.push_back(LevelOf(operand.value));
  return levels;
}

void GroupPricer::PlaceStage(const Group& group, Stage* stage) const {
  Spec& spec = stage->spec;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    Level& level = spec.operand[static_cast<size_t>(operand)].level;
    level = IsVectorOfEpilogue(spec, operand) ? Level::kL1
                                              : LevelOf(stage->operands[static_cast<size_t>(operand)].value);
    if (StepOfWindow(group, *stage, operand, threads_) > 0)
      level = std::min(level, LevelOfBuffers(RootElements(spec, operand) * ElementBytes(spec, operand)));
    if (IsReadByAllTiles(group, *stage, operand))
      level = std::min(level, LevelOfBuffers(local_bytes_ + BytesForAllTiles(group)));
    if (operand == MatmulDims::kOut && spec.accumulate)  // the stage before has just made it
      level = std::min(level, LevelOfBuffers(local_bytes_ + BytesOf(spec, operand)));
  }
  MakeRoom(&spec);
  (group.sharing == Sharing::kStage ? spec.threads : spec.sharers) = static_cast<uint8_t>(threads_);
}

// For the elements that a tile of a window has not in common with the one before it, and, shared out to all
// tiles, for those that stay from the first on.
double GroupPricer::FetchCycles(const Group& group, const Stage& stage) const {
  double cycles = 0;
  for (int operand = 0; operand < MatmulDims::kOut; ++operand) {
    const Level level = LevelOf(stage.operands[static_cast<size_t>(operand)].value);
    cycles += ReadCycles(StepOfWindow(group, stage, operand, threads_) * ElementBytes(stage.spec, operand),
                         level, target_);
    if (IsReadByAllTiles(group, stage, operand) &&
        stage.spec.operand[static_cast<size_t>(operand)].level < level)
      cycles += ReadCycles(BytesOf(stage.spec, operand), level, target_) / static_cast<double>(group.tiles());
  }
  return static_cast<double>(stage.repeats) * cycles;
}

// Lets the operands wait further away, until there is room for the copy that a program may need.
void GroupPricer::MakeRoom(Spec* spec) const {
  while (!HasRoom(*spec, target_)) {
    const Level fastest = FillingLevel(*spec);
    for (int operand = 0; operand <= spec->op_info().output(); ++operand)
      if (Level& level = spec->operand[static_cast<size_t>(operand)].level; level == fastest)
        level = static_cast<Level>(static_cast<int>(level) + 1);
  }
}

absl::StatusOr<std::optional<PricedGroups>> GroupPricer::Price(size_t first, size_t end, Workers workers,
                                                               double budget) {
  workers_ = workers;
  threads_ = workers == Workers::kOne ? 1 : options_.threads;
  // Numbers of buffers that no other group has.
  const int next_value = static_cast<int>(graph_.nodes.size() + 2 * kMaxOperations * first);
  const GroupShape whole = ShapeGroup(uses_, {first, end, 0}, next_value);
  if (!whole.error.empty()) {
    if (first + 1 == end) {
      error_ = whole.error;
      error_node_ = whole.error_node;
    }
    return std::optional<PricedGroups>();
  }
  std::optional<PricedGroups> best;
  for (const GroupChoice& choice : Choices({first, end}, whole)) {
    const GroupShape shaped = ShapeGroup(uses_, choice, next_value);
    if (!shaped.error.empty()) continue;
    for (Level fastest : {Level::kL2, Level::kL1}) {
      fastest_ = fastest;
      if (fastest == Level::kL1 && !UsesL1(shaped)) continue;
      GroupShape shape = shaped;
      absl::StatusOr<bool> priced = PriceShape(next_value + static_cast<int>(kMaxOperations), budget, &shape);
      if (!priced.ok()) return priced.status();
      if (!*priced) continue;
      double cycles = 0;
      for (const Group& group : shape.groups) cycles += group.cycles;
      if (cycles >= budget) continue;
      budget = cycles;
      best = PricedGroups{std::move(shape.ahead), std::move(shape.groups), std::move(shape.buffers), cycles};
    }
  }
  fastest_ = Level::kL2;
  return best;
}

// What is worth trying of a group that isn't tiled: itself, its tiles, and for each thread one.
std::vector<GroupChoice> GroupPricer::Choices(GroupChoice choice, const GroupShape& whole) const {
  std::vector<GroupChoice> choices = {choice};
  if (!optimal_) return choices;
  for (const GroupChoice& other : whole.others)
    if (other.winograd == 0 || options_.allow_winograd) choices.push_back(other);
  if (workers_ != Workers::kShared) return choices;
  const int64_t rows = whole.groups.front().rows, share = (rows + threads_ - 1) / threads_;
  choice.tile = (share + whole.tile_step - 1) / whole.tile_step * whole.tile_step;
  if (choice.tile < rows) choices.push_back(choice);
  return choices;
}

Sharing GroupPricer::SharingOf(const Group& group) const {
  if (workers_ != Workers::kShared) return Sharing::kNone;
  const bool alone = group.stages.size() == 1 && group.batch == 1 && group.tile == group.rows &&
                     group.stages[0].kind == StageKind::kContraction;
  return alone ? Sharing::kStage : Sharing::kTiles;
}

// Fills in programs and cycles; false: it is not cheaper than the budget.
absl::StatusOr<bool> GroupPricer::PriceShape(int next_value, double budget, GroupShape* shape) {
  PlaceValues(*shape);
  for (Stage& stage : shape->ahead) PriceStage(LevelsOf(stage), target_, &stage);
  double bound = 0;
  for (Group& group : shape->groups) {
    group.sharing = SharingOf(group);
    for (Stage* stage : StagesOf(group)) {
      if (stage->kind == StageKind::kContraction)
        PlaceStage(group, stage);
      else
        PriceStage(LevelsOf(*stage), target_, stage);
    }
    bound += Bound(group);
  }
  if (bound >= budget) return false;
  for (Group& group : shape->groups) {
    for (Stage* stage : StagesOf(group)) {
      if (stage->kind != StageKind::kContraction) continue;
      if (absl::Status status = SolveContraction(stage); !status.ok()) return status;
      stage->cycles += FetchCycles(group, *stage);
    }
  }
  if (absl::Status status = PackAhead(next_value, shape); !status.ok()) return status;
  for (Group& group : shape->groups) group.cycles = Cycles(&group);
  return true;
}

// What the group takes, and how threads share it best.
double GroupPricer::Cycles(Group* group) const {
  const double before = Sum(group->before), once = Sum(group->once), rest = Sum(group->rest);
  const double tiles = static_cast<double>(group->trips()) * Sum(group->stages) + rest;
  const auto batch = static_cast<double>(group->batch);
  if (group->sharing != Sharing::kTiles) return before + batch * (once + tiles);
  const auto shares = [&](int64_t tasks) {
    return static_cast<double>((tasks + threads_ - 1) / threads_) / static_cast<double>(tasks);
  };
  const int64_t tasks = group->batch * group->tiles();
  const double by_items = batch * (once + tiles) * shares(group->batch);
  const double by_tiles = batch * once + batch * tiles * shares(tasks);
  if (by_items <= by_tiles) group->sharing = Sharing::kItems;
  return before + std::min(by_items, by_tiles);
}

// No programs cost less.
double GroupPricer::Bound(const Group& group) const {
  Group bound = group;
  for (Stage* stage : StagesOf(bound))
    if (stage->kind == StageKind::kContraction)
      stage->cycles = static_cast<double>(stage->repeats) * ToCycles(model_.LowerBound(stage->spec));
  return Cycles(&bound);
}

absl::Status GroupPricer::SolveContraction(Stage* stage) {
  auto known = std::find_if(solved_.begin(), solved_.end(),
                            [&](const auto& solved) { return solved.first == stage->spec; });
  if (known == solved_.end()) {
    absl::StatusOr<SearchResult> result = options_.solve(stage->spec);
    if (!result.ok()) return result.status();
    stats_ += result->stats;
    optimal_ &= result->stop == StopReason::kOptimal;
    known = solved_.insert(solved_.end(), {stage->spec, *std::move(result)});
  }
  stage->impl = known->second.impl;
  stage->cycles = static_cast<double>(stage->repeats) *
                  (ToCycles(known->second.cost) - (Forks(stage->impl) ? target_.fork_join_cycles : 0));
  return absl::OkStatus();
}

// A contraction that reads a matrix which is the same for all tiles.
struct GroupPricer::Reader {
  Group* group;
  Stage* stage;
  double runs;

  double cycles() const { return runs * stage->cycles; }
};

// The operand that may be copied once: a constant, or what all of several tiles multiply by; -1: none.
int GroupPricer::PackableOperand(const GroupShape& shape, const Group& group, const Stage& stage) const {
  if (stage.kind != StageKind::kContraction || (stage.repeats > 1 && stage.loop == 0) ||
      stage.spec.size[MatmulDims::kB] > 1 || stage.spec.op_info().base == OpKind::kDepthwise)
    return -1;
  for (size_t operand : {MatmulDims::kRhs, MatmulDims::kLhs}) {
    const StageOperand& matrix = stage.operands[operand];
    if (graph_.IsConstant(matrix.value) && stage.repeats == 1 &&
        (matrix.batch_stride == 0 || group.batch == 1) && matrix.row_stride == 0 &&
        !IsWindow(stage.spec, static_cast<int>(operand)))
      return static_cast<int>(operand);
  }
  const StageOperand& rhs = stage.operands[MatmulDims::kRhs];
  const bool for_all_tiles = shape.groups.size() == 1 && group.tiles() > 1 && rhs.row_stride == 0 &&
                             (stage.repeats == 1 || !graph_.IsConstant(rhs.value));
  return for_all_tiles && !Makes(group.stages, rhs.value) ? MatmulDims::kRhs : -1;
}

// Copies once what is there for all tiles or for all calls, where that is cheaper.
absl::Status GroupPricer::PackAhead(int next_value, GroupShape* shape) {
  // By operand, value and offset, and by what is read from there on.
  std::map<std::tuple<int, int, int64_t, Order, int64_t, int64_t>, std::vector<Reader>> readers;
  for (Group& group : shape->groups)
    for (std::vector<Stage>* stages : {&group.stages, &group.rest})
      for (Stage& stage : *stages) {
        const int operand = PackableOperand(*shape, group, stage);
        if (operand < 0) continue;
        const StageOperand& matrix = stage.operands[static_cast<size_t>(operand)];
        const auto runs = static_cast<double>(group.batch * (stages == &group.rest ? 1 : group.trips()));
        const TileExtent extent = ExtentOf(stage.spec, operand);
        const Order order = stage.spec.operand[static_cast<size_t>(operand)].layout.order;
        readers[{operand, matrix.value, matrix.offset, order, extent.outer, extent.inner}].push_back(
            {&group, &stage, runs});
      }
  for (auto& [matrix, list] : readers) {
    const auto operand = static_cast<size_t>(std::get<0>(matrix));
    absl::Status status = PackAhead(operand, next_value++, std::move(list), shape);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The reader that takes the most decides how the copy lies. `value`: that of the copy.
absl::Status GroupPricer::PackAhead(size_t operand, int value, std::vector<Reader> readers,
                                    GroupShape* shape) {
  const Reader& most =
      *std::max_element(readers.begin(), readers.end(),
                        [](const Reader& a, const Reader& b) { return a.cycles() < b.cycles(); });
  const StageOperand matrix = most.stage->operands[operand];
  // Each item of a batch has a copy of its own, which is made when it comes to it.
  const bool once = matrix.batch_stride == 0 || most.group->batch == 1;
  const bool constant = graph_.IsConstant(matrix.value) && once;
  Stage packing = *most.stage;
  TensorSpec& tensor = packing.spec.operand[operand];
  tensor.constant = 1;
  if (!constant)
    tensor.level = std::min(tensor.level, LevelOfBuffers(local_bytes_ + BytesForAllTiles(*most.group), true));
  levels_[value] = tensor.level;
  if (absl::Status status = SolveContraction(&packing); !status.ok()) return status;
  Stage pack = PackStage(packing, operand, value);
  const Impl kernel = packing.impl.children.front().impl;
  double saved = constant ? 0 : -pack.cycles * (once ? 1 : static_cast<double>(most.group->batch));
  std::vector<Stage> packed;
  for (const Reader& reader : readers) {
    Stage& stage = packed.emplace_back(*reader.stage);
    stage.spec.operand[operand] = kernel.spec.operand[operand];
    stage.operands[operand] = pack.operands[1];
    if (reader.stage == most.stage) {
      stage.impl = kernel;
      stage.cycles = packing.cycles;
    } else if (absl::Status status = SolveContraction(&stage); !status.ok()) {
      return status;
    }
    stage.cycles += FetchCycles(*reader.group, stage);
    saved += reader.cycles() - reader.runs * stage.cycles;
  }
  if (saved <= 0) return absl::OkStatus();
  shape->Reserve(value, pack.repeats * pack.operands[1].repeat_stride, kernel.spec.operand[operand].dtype);
  (constant ? shape->ahead : once ? most.group->before : most.group->once).push_back(std::move(pack));
  for (size_t i = 0; i < readers.size(); ++i) *readers[i].stage = std::move(packed[i]);
  return absl::OkStatus();
}

// The copy that the program's first decision makes, or one for each repeat.
Stage GroupPricer::PackStage(const Stage& reader, size_t operand, int value) const {
  Stage pack;
  pack.kind = StageKind::kPack;
  pack.spec = reader.spec;
  pack.impl = reader.impl;
  const Spec& kernel = reader.impl.children.front().impl.spec;
  const TensorSpec& copy = kernel.operand[operand];
  const int64_t elements =
      PackedElements(ExtentOf(kernel, static_cast<int>(operand)), copy.layout, copy.dtype, target_);
  // Rows that are no whole vectors apart end with a whole one all the same.
  const int64_t bytes =
      (elements * Bytes(copy.dtype) + target_.vectors.front().bytes + kLine - 1) / kLine * kLine;
  pack.operands = {reader.operands[operand], {value, 0, 0, 0, bytes / Bytes(copy.dtype)}};
  pack.repeats = reader.repeats;
  Expansion expansion;
  Expand(reader.spec, reader.impl.decision, target_, &expansion);
  pack.cycles =
      static_cast<double>(pack.repeats) * model_.PackCycles(reader.spec, reader.impl.decision, expansion);
  return pack;
}

}  // namespace kirsch
