// SPDX-License-Identifier: Apache-2.0
#include "search/graph/operand_copies.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "spec/expansion.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr int64_t kLine = 64;  // bytes

constexpr int kNoNumber = -1;  // of a stage that no schedule speaks of

constexpr double kAnything = std::numeric_limits<double>::infinity();  // a limit that nothing reaches

}  // namespace

std::vector<StagePlace> FindPlaces(const GroupShape& shape) {
  std::vector<StagePlace> places;
  int number = 0;
  for (size_t nest = 0; nest < shape.nests.size(); ++nest)
    for (auto list : {&LoopNest::before, &LoopNest::once, &LoopNest::stages, &LoopNest::rest}) {
      const std::vector<Stage>& stages = shape.nests[nest].*list;
      for (size_t place = 0; place < stages.size(); ++place)
        if (stages[place].kind != StageKind::kPack) places.push_back({number++, nest, list, place});
    }
  return places;
}

// Returns the operand that may be copied once: a constant, or an rhs that all of several tiles read; -1:
// none.
int OperandCopies::CopiedOperand(const GroupShape& shape, const StagePlace& place) const {
  const LoopNest& nest = shape.nests[place.nest];
  const Stage& stage = place.In(shape);
  const bool in_tiles = place.list == &LoopNest::stages || place.list == &LoopNest::rest;
  if (stage.kind != StageKind::kContraction || !in_tiles || (stage.repeats > 1 && stage.loop == 0) ||
      stage.keys != 0 ||  // how many there are to copy is not known
      stage.spec.size[MatmulDims::kB] > 1 || stage.spec.op_info().lanewise())
    return -1;
  // A constant may be either input, but not a window, and not a matrix of which each tile reads its own rows.
  for (size_t operand : {MatmulDims::kRhs, MatmulDims::kLhs}) {
    const StageOperand& matrix = stage.operands[operand];
    if (graph_.IsConstant(matrix.value) && stage.repeats == 1 && matrix.row_stride == 0 &&
        !IsWindow(stage.spec, static_cast<int>(operand)))
      return static_cast<int>(operand);
  }
  // Otherwise a copy pays only if it is read several times. It can be made before the tiles only if none of
  // them makes the matrix.
  const StageOperand& rhs = stage.operands[MatmulDims::kRhs];
  const bool for_all_tiles = shape.nests.size() == 1 && nest.tiles() > 1 && rhs.row_stride == 0 &&
                             (stage.repeats == 1 || !graph_.IsConstant(rhs.value));
  return for_all_tiles && !Makes(nest.stages, rhs.value) ? MatmulDims::kRhs : -1;
}

// Two stages read the same matrix if value, offset and stride of items are the same. They must also read
// equally much from there on, in the same order.
std::vector<OperandCopies::Readers> OperandCopies::FindReaders(const GroupShape& shape) const {
  std::map<std::tuple<int, int, int64_t, int64_t, Order, int64_t, int64_t>, Readers> readers;
  for (const StagePlace& place : FindPlaces(shape)) {
    const int operand = CopiedOperand(shape, place);
    if (operand < 0) continue;
    const Stage& stage = place.In(shape);
    const StageOperand& matrix = stage.operands[static_cast<size_t>(operand)];
    const TileExtent extent = ExtentOf(stage.spec, operand);
    const Order order = stage.spec.tensor(operand).layout.order;
    Readers& all = readers[{operand, matrix.value, matrix.offset, matrix.batch_stride, order, extent.outer,
                            extent.inner}];
    all.operand = static_cast<size_t>(operand);
    all.stages.push_back(place);
  }
  std::vector<Readers> list;
  for (auto& [matrix, all] : readers) list.push_back(std::move(all));
  return list;
}

// The copies that may be made of a constant ahead; null: any.
const CopiesOfConstant* OperandCopies::PackedAs(int constant) const {
  const auto packed = packing_.find(constant);
  return packed == packing_.end() ? nullptr : &packed->second;
}

bool OperandCopies::SuitsPacking(const GroupShape& shape) const {
  if (packing_.empty()) return true;
  // May this be made of the constant?
  const auto makes = [&](int constant, const PackedCopy& copy) {
    const CopiesOfConstant* const copies = PackedAs(constant);
    return copies == nullptr || copies->contains(copy);
  };
  for (const Stage& stage : shape.prepacks)
    if (!makes(stage.operands[0].value, CopyMadeBy(stage))) return false;
  // A constant that is not copied is read as it lies, which is a plain copy. So the packing must have that
  // one, too.
  for (const StagePlace& place : FindPlaces(shape)) {
    const std::vector<StageOperand>& operands = place.In(shape).operands;
    const int copied = CopiedOperand(shape, place);
    for (size_t i = 0; i < operands.size(); ++i)
      if (graph_.IsConstant(operands[i].value) && !makes(operands[i].value, PlainCopy{}) &&
          (static_cast<int>(i) != copied || !IsPrepacked(shape, place, i)))
        return false;
  }
  return true;
}

// True if the packing lets the readers read their matrix as it lies.
bool OperandCopies::MayLie(const Readers& readers, const GroupShape& shape) const {
  const StagePlace& reader = readers.stages.front();
  const CopiesOfConstant* const copies = PackedAs(reader.In(shape).operands[readers.operand].value);
  return copies == nullptr || copies->contains(PlainCopy{});
}

// The decisions that make one of the copies.
std::vector<Decision> OperandCopies::FindPacks(const GroupShape& shape, const StagePlace& asks,
                                               size_t operand, const CopiesOfConstant& copies) const {
  std::vector<Decision> packs;
  EnumerateDecisions(WithConstant(shape, asks, operand).spec, model_.target(), &packs);
  std::erase_if(packs, [&](const Decision& pack) {
    return !copies.contains(CopyMadeBy(MakePack(shape, asks, operand, pack)));
  });
  return packs;
}

// True if all items of a batch read one matrix. Otherwise each item has a copy of its own, made when the nest
// comes to it; copies of constants are all made ahead.
bool OperandCopies::IsOnce(const GroupShape& shape, const StagePlace& reader, size_t operand) const {
  const StageOperand& matrix = reader.In(shape).operands[operand];
  return matrix.batch_stride == 0 || shape.nests[reader.nest].batch == 1;
}

// True if the copy can be made ahead of all calls.
bool OperandCopies::IsPrepacked(const GroupShape& shape, const StagePlace& reader, size_t operand) const {
  const Stage& stage = reader.In(shape);
  return graph_.IsConstant(stage.operands[operand].value) &&
         (IsOnce(shape, reader, operand) || stage.repeats == 1);
}

Stage OperandCopies::WithConstant(const GroupShape& shape, const StagePlace& reader, size_t operand) const {
  Stage stage = reader.In(shape);
  TensorSpec& tensor = stage.spec.operand[operand];
  tensor.constant = 1;
  if (!IsPrepacked(shape, reader, operand))
    tensor.level = levels_.LevelForCopy(shape.nests[reader.nest], tensor.level);
  return stage;
}

// Room must be left in each reader's spec, as the other operands of each take room, too.
bool OperandCopies::Fits(const GroupShape& shape, const Readers& readers, const Decision& decision) const {
  const Target& target = model_.target();
  return std::all_of(readers.stages.begin(), readers.stages.end(), [&](const StagePlace& reader) {
    const Spec constant = WithConstant(shape, reader, readers.operand).spec;
    Expansion expansion;
    Expand(constant, decision, target, &expansion);
    return AvailableBelow(constant, expansion, AvailableAtPlacement(constant, target), target) >= 0;
  });
}

absl::StatusOr<bool> OperandCopies::Decide(const Readers& readers, double budget, GroupShape* shape,
                                           GroupDecision* decision) {
  GroupDecision::Copy copy;
  copy.op = readers.stages.front().In(*shape).spec.op;
  for (const StagePlace& reader : readers.stages) copy.readers.push_back(reader.number);
  // Both ways start from the same shape. The copy must be cheaper than the matrix as it lies, so that one's
  // cost is its budget.
  GroupShape as_it_lies = *shape, packed = *shape;
  // A schedule may leave the matrix as it lies, or name a copy. If it has a program for a reader but no copy,
  // the matrix stays as it lies.
  const CopySchedule* const pinned = PinnedFor(readers);
  absl::StatusOr<bool> lies = false, copied = false;
  if (MayLie(readers, *shape) && (pinned == nullptr || !pinned->decision))
    lies = SolveAll(readers, budget, &as_it_lies);
  if (!lies.ok()) return lies;
  if (*lies) budget = cost_.Of(as_it_lies);
  if (pinned != nullptr)
    copied = Replay(readers, *pinned, &packed, &copy.decision);
  else if (!IsPinned(readers))
    copied = ChooseCopy(readers, budget, &packed, &copy.decision);
  if (!copied.ok()) return copied;
  // The number is used up even if there is no copy: CopiesFor counts the matrices that are decided.
  ++next_value_;
  if (!*lies && !*copied) return false;
  *shape = std::move(*copied ? packed : as_it_lies);
  if (!*copied) copy.decision = {};
  decision->copies.push_back(std::move(copy));
  return true;
}

absl::StatusOr<bool> OperandCopies::SolveAsItIs(const StagePlace& place, double budget,
                                                GroupShape* shape) const {
  Stage& stage = place.In(*shape);
  // The program must be cheaper by what the fetch takes beside it.
  const double fetch = levels_.FetchCycles(shape->nests[place.nest], stage);
  const double limit = cost_.LimitOf(shape, &stage, budget) - fetch;
  absl::StatusOr<bool> solved = solve_(place.number, limit, &stage);
  if (solved.ok() && *solved) stage.cycles += fetch;
  return solved;
}

absl::StatusOr<bool> OperandCopies::SolveAll(const Readers& readers, double budget, GroupShape* shape) const {
  for (const StagePlace& reader : readers.stages)
    if (absl::StatusOr<bool> solved = SolveAsItIs(reader, budget, shape); !solved.ok() || !*solved)
      return solved;
  return cost_.Of(*shape) < budget;
}

// The list for the stage that makes the copy: ahead of all calls, before all items, or for each item.
std::vector<Stage>* OperandCopies::PacksFor(const StagePlace& reader, size_t operand,
                                            GroupShape* shape) const {
  if (IsPrepacked(*shape, reader, operand)) return &shape->prepacks;
  LoopNest& nest = shape->nests[reader.nest];
  return IsOnce(*shape, reader, operand) ? &nest.before : &nest.once;
}

// A stage that stands for the cheapest copy of the operand that is constant in the stage's spec. It has
// nothing but cycles.
Stage OperandCopies::LeastPack(const Stage& constant) const {
  Stage pack;
  pack.kind = StageKind::kPack;
  pack.repeats = constant.repeats;
  pack.cycles = kAnything;
  // No program knows yet which copy it is, so it counts as the cheapest that is legal.
  std::vector<Decision> decisions;
  EnumerateDecisions(constant.spec, model_.target(), &decisions);
  Expansion expansion;
  for (const Decision& decision : decisions) {
    Expand(constant.spec, decision, model_.target(), &expansion);
    pack.cycles = std::min(pack.cycles, static_cast<double>(pack.repeats) *
                                            model_.PackCycles(constant.spec, decision, expansion));
  }
  return pack;
}

double OperandCopies::LimitOf(const StagePlace& reader, size_t operand, double budget,
                              GroupShape* shape) const {
  // Whatever copy there will be costs at least this much, so the reader must be cheaper by that.
  std::vector<Stage>* const packs = PacksFor(reader, operand, shape);
  packs->push_back(LeastPack(WithConstant(*shape, reader, operand)));
  const double limit = cost_.LimitOf(shape, &reader.In(*shape), budget);
  packs->pop_back();
  return limit;
}

// Tries the copies that the readers would have, one reader after the other, and keeps the cheapest. Suppose
// the copy that a reader would have is too much, together with the cheapest copy there is. Then the reader is
// too much with any copy, so the search ends.
absl::StatusOr<bool> OperandCopies::ChooseCopy(const Readers& readers, double budget, GroupShape* shape,
                                               Decision* chosen) {
  GroupShape before = *shape;
  std::vector<Decision> tried;
  bool found = false;
  for (const StagePlace& asks : readers.stages) {
    Stage constant = WithConstant(before, asks, readers.operand);
    KIRSCH_ASSIGN_OR_RETURN(bool solved,
                            solve_(kNoNumber, LimitOf(asks, readers.operand, budget, &before), &constant));
    if (!solved) break;
    const CopiesOfConstant* const copies = IsPrepacked(before, asks, readers.operand)
                                               ? PackedAs(constant.operands[readers.operand].value)
                                               : nullptr;
    // If a packing says which copies there may be, all of those are tried instead.
    const std::vector<Decision> decisions = copies == nullptr
                                                ? std::vector<Decision>{constant.impl.decision}
                                                : FindPacks(before, asks, readers.operand, *copies);
    for (const Decision& decision : decisions) {
      if (std::find(tried.begin(), tried.end(), decision) != tried.end()) continue;
      tried.push_back(decision);
      if (!Fits(before, readers, decision)) continue;
      GroupShape trial = before;
      Copy(readers, asks, decision, &trial);
      KIRSCH_ASSIGN_OR_RETURN(bool cheaper, SolveAll(readers, budget, &trial));
      if (!cheaper) continue;
      budget = cost_.Of(trial);
      *chosen = decision;
      *shape = std::move(trial);
      found = true;
    }
  }
  return found;
}

// The stage that makes the copy. If each item of a batch has its own matrix of a constant, the stage copies
// all of them.
Stage OperandCopies::MakePack(const GroupShape& shape, const StagePlace& asks, size_t operand,
                              const Decision& decision) const {
  const Stage constant = WithConstant(shape, asks, operand);
  Expansion expansion;
  Expand(constant.spec, decision, model_.target(), &expansion);
  const Spec& kernel = expansion.children[0].spec;
  const TensorSpec& copy = kernel.operand[operand];
  StageOperand from = constant.operands[operand];
  Stage pack;
  pack.kind = StageKind::kPack;
  pack.spec = constant.spec;
  pack.impl = {constant.spec, decision, {{1, {kernel, {}, {}}}}};
  pack.repeats = constant.repeats;
  if (from.batch_stride != 0 && IsPrepacked(shape, asks, operand)) {
    pack.repeats = shape.nests[asks.nest].batch;
    from.repeat_stride = std::exchange(from.batch_stride, 0);
  }
  const int64_t elements =
      PackedElements(ExtentOf(kernel, static_cast<int>(operand)), copy.layout, copy.dtype, model_.target());
  // Rows that are no whole vectors apart end with a whole one all the same. So there is room for one more
  // vector, rounded up to whole lines.
  const int64_t bytes =
      (elements * Bytes(copy.dtype) + model_.target().vectors.front().bytes + kLine - 1) / kLine * kLine;
  pack.operands = {from, {next_value_, 0, 0, 0, bytes / Bytes(copy.dtype)}};
  pack.cycles = static_cast<double>(pack.repeats) * model_.PackCycles(constant.spec, decision, expansion);
  return pack;
}

void OperandCopies::Copy(const Readers& readers, const StagePlace& asks, const Decision& decision,
                         GroupShape* shape) {
  const size_t operand = readers.operand;
  std::vector<Stage>* const packs = PacksFor(asks, operand, shape);
  const bool of_batch =
      asks.In(*shape).operands[operand].batch_stride != 0 && IsPrepacked(*shape, asks, operand);
  Stage pack = MakePack(*shape, asks, operand, decision);
  // The readers' specs get the copy's type and layout, and its level or that of the constant.
  const TensorSpec& copy = pack.impl.children[0].impl.spec.operand[operand];
  const bool prepacked = packs == &shape->prepacks;
  if (prepacked)
    levels_.PlacePrepacked(pack.operands[0].value, next_value_);
  else
    levels_.PlaceCopy(next_value_, copy.level);
  StageOperand read = pack.operands[1];
  if (of_batch) read.batch_stride = std::exchange(read.repeat_stride, 0);
  for (const StagePlace& reader : readers.stages) {
    TensorSpec& matrix = reader.In(*shape).spec.operand[operand];
    const Level level = prepacked ? matrix.level : copy.level;
    matrix = copy;
    matrix.level = level;
    reader.In(*shape).operands[operand] = read;
  }
  // The buffer for all copies of the stage, one for each repeat.
  shape->Reserve(next_value_, pack.repeats * pack.operands[1].repeat_stride, copy.dtype);
  packs->push_back(std::move(pack));
}

// The schedule's line for the copy, or for the lack of one; null: there is none.
const CopySchedule* OperandCopies::PinnedFor(const Readers& readers) const {
  if (pinned_ == nullptr) return nullptr;
  const int first = readers.stages.front().number;
  for (const CopySchedule& copy : pinned_->copies)
    if (std::find(copy.readers.begin(), copy.readers.end(), first) != copy.readers.end()) return &copy;
  return nullptr;
}

// True if a schedule has a program for one of the readers. If it has no line for a copy, they read the matrix
// as it lies.
bool OperandCopies::IsPinned(const Readers& readers) const {
  if (pinned_ == nullptr) return false;
  return std::any_of(pinned_->stages.begin(), pinned_->stages.end(), [&](const StageSchedule& stage) {
    return std::any_of(readers.stages.begin(), readers.stages.end(),
                       [&](const StagePlace& reader) { return reader.number == stage.stage; });
  });
}

// A line names all readers, so that nobody believes to have decided for one of them only.
absl::StatusOr<bool> OperandCopies::Replay(const Readers& readers, const CopySchedule& schedule,
                                           GroupShape* shape, Decision* chosen) {
  std::vector<int> all;
  for (const StagePlace& reader : readers.stages) all.push_back(reader.number);
  if (schedule.readers != all)
    return ErrorAt(source_, schedule.position,
                   Cat("expected all that read the matrix, stages ", Join(all, " ")));
  if (!schedule.decision) return false;
  const Spec& asked = readers.stages.front().In(*shape).spec;
  KIRSCH_ASSIGN_OR_RETURN(const Schedule read, ReadSchedule(*schedule.decision, source_, asked.op));
  if (read.holes != 0 || read.gap)
    return ErrorAt(source_, schedule.position,
                   Cat("expected a copy without holes, got '", PrintDecision(asked.op, read), "'"));
  *chosen = read.decision;
  const bool copies = chosen->kind == RewriteKind::kPack && chosen->operand == readers.operand;
  // The decision may be legal for some of the readers' specs only.
  for (const StagePlace& asks : readers.stages)
    if (copies && IsLegal(WithConstant(*shape, asks, readers.operand).spec, *chosen, model_.target()) &&
        Fits(*shape, readers, *chosen)) {
      Copy(readers, asks, *chosen, shape);
      return SolveAll(readers, kAnything, shape);
    }
  return ErrorAt(source_, schedule.position,
                 Cat("expected a copy that is in the space of '", PrintSpec(asked), "', got '",
                     PrintDecision(asked.op, *chosen), "'"));
}

}  // namespace kirsch
