// SPDX-License-Identifier: Apache-2.0
// The search for plans of graphs is exact: it finds what trying everything in the stated space
// (rewrites/README.md) finds, by code that has nothing of it but the rewrites and the costs of stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/copy_loops.h"
#include "rewrites/graph/registry.h"
#include "rewrites/spec/rewrite.h"
#include "search/graph/constant_folding.h"
#include "search/graph/group_levels.h"
#include "search/graph/operand_copies.h"
#include "spec/expansion.h"
#include "spec/language/kernel_file.h"
#include "spec/storage.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
const PlanPacking kAnyPacking;

// The rewrites by name, and how many graphs each is legal in, or chosen in.
struct Usage {
  std::map<std::string, int> legal, chosen;
  int refused = 0, folded = 0, chosen_folded = 0;
};

// Tries everything.
class BruteForce {
 public:
  BruteForce(const Graph& graph, const Target& target, int threads, PlanPacking packing = {})
      : graph_(CanonicalGraph(graph)),
        target_(target),
        model_(target),
        uses_(graph_),
        threads_(threads),
        packing_(std::move(packing)) {}

  double Cycles() { return CyclesFrom({}, {}) + (threads_ > 1 ? target_.fork_join_cycles : 0); }
  const std::map<std::string, bool>& legal() const { return legal_; }

 private:
  // Of what is left to do, where the current phase began when `begin` was done.
  double CyclesFrom(OperationSet done, OperationSet begin) {
    const OperationSet all = AllOf(uses_);
    if (done == all) return 0;
    const auto known = from_.find({done, begin});
    if (known != from_.end()) return known->second;
    double least = kNever;
    ForEachGroup(done, [&](OperationSet group) {
      const Workers workers = threads_ > 1 ? Workers::kShared : Workers::kOne;
      least = std::min(least, CyclesOf(group, workers) + CyclesAfter(done, begin, group));
      if (threads_ == 1 || !OnlyReadBy(group, all)) return;
      ForEachGroup(done | group, [&](OperationSet shared) {
        if (!OnlyReadBy(group, done | group | shared)) return;
        least = std::min(least, CyclesOf(group, Workers::kEach) + CyclesOf(shared, Workers::kShared) +
                                    CyclesAfter(done, begin, group | shared));
      });
    });
    return from_[{done, begin}] = least;
  }

  // What reads a value of this phase begins the next.
  double CyclesAfter(OperationSet done, OperationSet begin, OperationSet group) {
    if (threads_ == 1 || ReadsOnly(group, begin | group)) return CyclesFrom(done | group, begin);
    return target_.barrier_cycles + CyclesFrom(done | group, done);
  }

  template <typename Use>
  void ForEachGroup(OperationSet done, Use use) const {
    ForEachSubset(AllOf(uses_) - done, [&](const OperationSet& group) {
      if (ReadsOnly(group, done | group) && IsConnected(group) && CopiesComeLast(done | group)) use(group);
    });
  }

  // A strided copy of what nobody reads is a result. Such a copy comes behind everything else.
  bool CopiesComeLast(OperationSet done) const {
    bool in_order = true, missing = false;
    for (const bool copies : {false, true})
      ForEach(AllOf(uses_), [&](int node) {
        if (copies !=
            (uses_.UsesOf(node).size() == 1 && graph_.IsResult(node) && IsStridedCopy(graph_, node)))
          return;
        in_order &= !(copies && missing && IsIn(done, node));
        missing |= !IsIn(done, node);
      });
    return in_order;
  }

  // Are the values of `group` of no use to anyone but those?
  bool OnlyReadBy(OperationSet group, OperationSet readers) const {
    bool only = true;
    ForEach(group, [&](int node) { only &= !graph_.IsResult(node); });
    ForEach(AllOf(uses_) - readers, [&](int node) {
      for (int input : graph_.at(node).inputs) only &= !IsIn(group, uses_.Stored(input));
    });
    return only;
  }

  bool IsIn(OperationSet set, int node) const {
    for (size_t i = 0; i < uses_.operations().size(); ++i)
      if (uses_.operations()[i] == node) return set.Contains(i);
    return false;
  }
  bool IsOperation(int node) const { return IsIn(AllOf(uses_), node); }

  template <typename Use>
  void ForEach(OperationSet set, Use use) const {
    set.ForEach([&](size_t place) { use(uses_.operations()[place]); });
  }

  bool ReadsOnly(OperationSet group, OperationSet made) const {
    bool only = true;
    ForEach(group, [&](int node) {
      for (int input : graph_.at(node).inputs)
        if (const int stored = uses_.Stored(input); IsOperation(stored)) only &= IsIn(made, stored);
    });
    return only;
  }

  // By what is read: one reads what the other makes, or both read the same.
  bool IsConnected(OperationSet group) const {
    std::vector<int> reached;
    ForEach(group, [&](int node) {
      if (reached.empty()) reached.push_back(node);
    });
    for (bool grows = true; grows;) {
      grows = false;
      ForEach(group, [&](int node) {
        if (std::find(reached.begin(), reached.end(), node) != reached.end()) return;
        if (std::any_of(reached.begin(), reached.end(), [&](int other) { return Touch(node, other); })) {
          reached.push_back(node);
          grows = true;
        }
      });
    }
    return reached.size() == group.size();
  }
  bool Touch(int a, int b) const {
    std::vector<int> of_a = {a}, of_b = {b};
    for (int input : graph_.at(a).inputs) of_a.push_back(uses_.Stored(input));
    for (int input : graph_.at(b).inputs) of_b.push_back(uses_.Stored(input));
    return std::any_of(of_a.begin(), of_a.end(), [&](int value) {
      return graph_.at(value).op != Operation::kNumber &&
             std::find(of_b.begin(), of_b.end(), value) != of_b.end();
    });
  }

  double CyclesOf(OperationSet set, Workers workers) {
    const auto known = of_.find({set, workers});
    if (known != of_.end()) return known->second;
    workers_ = workers;
    const FusionGroup group(uses_, set);
    const GroupProblem problem{group, target_, Sharers(), true};
    double least = kNever;
    for (const GraphRewrite* rewrite : GraphRewrites()) {
      if (!rewrite->applies(problem)) continue;
      for (const RewriteParameters& parameters : rewrite->enumerate(problem))
        for (bool in_place : {true, false})
          for (Level keep : {Level::kL2, Level::kL1}) {
            const GroupShape shape =
                rewrite->expand(problem, {parameters, in_place, static_cast<int>(graph_.nodes.size())});
            if (!shape.error.empty()) continue;
            legal_[std::string(rewrite->name)] = true;
            least = std::min(least, CyclesOf(shape, keep));
          }
    }
    return of_[{set, workers}] = least;
  }

  int Sharers() const { return workers_ == Workers::kShared ? threads_ : 1; }

  double CyclesOf(GroupShape shape, Level keep) {
    GroupLevels levels(graph_, target_, Residency::kWarm, std::nullopt, workers_,
                       workers_ == Workers::kOne ? 1 : threads_);
    if (keep == Level::kL1 && !levels.MayKeepInL1(shape)) return kNever;
    levels.Place(shape, keep);
    for (LoopNest& nest : shape.nests)
      if (workers_ == Workers::kShared)
        nest.sharing = IsOneContraction(nest) ? Sharing::kStage : Sharing::kTiles;
    for (const StagePlace& place : FindPlaces(shape)) {
      Stage& stage = place.In(shape);
      if (stage.kind != StageKind::kContraction)
        PriceStage(levels.LevelsOf(stage), target_, nullptr, &stage);
      else
        levels.PlaceSpec(shape.nests[place.nest], &stage);
    }
    for (const Stage& stage : shape.prepacks)
      if (!Makes(stage.operands[0].value, CopyMadeBy(stage))) return kNever;
    const OperandCopies copies(graph_, model_, GroupCost(1), &levels, {}, 0, kAnyPacking, nullptr, "");
    return WithCopies(shape, levels, copies.FindReaders(shape), 0);
  }

  // May this be made of the constant ahead?
  bool Makes(int constant, const PackedCopy& copy) const {
    const auto copies = packing_.find(constant);
    return copies == packing_.end() || copies->second.contains(copy);
  }

  // The copies of a constant that may be made; without a packing, what its reader likes best.
  std::vector<Decision> FindPacks(const Stage& constant, size_t operand, bool is_ahead, int64_t batch) {
    const int value = constant.operands[operand].value;
    if (!is_ahead || !packing_.contains(value)) {
      Stage solved = constant;
      Solve(&solved);
      return {solved.impl.decision};
    }
    std::vector<Decision> packs;
    EnumerateDecisions(constant.spec, target_, &packs);
    Stage prepack = constant;
    prepack.kind = StageKind::kPack;
    prepack.repeats = batch;
    prepack.operands = {constant.operands[operand], {}};
    prepack.operands[0].repeat_stride = prepack.operands[0].batch_stride;
    std::erase_if(packs,
                  [&](const Decision& pack) { return !Makes(value, CopyMadeBy(prepack, pack, target_)); });
    return packs;
  }

  // Threads share a contraction that is all of a nest by its own parallel tiles.
  static bool IsOneContraction(const LoopNest& nest) {
    return nest.stages.size() == 1 && nest.batch == 1 && nest.tile == nest.rows &&
           nest.stages[0].kind == StageKind::kContraction;
  }

  // With every choice for the matrices from `number` on.
  double WithCopies(const GroupShape& shape, const GroupLevels& levels,
                    const std::vector<OperandCopies::Readers>& all, size_t number) {
    if (number == all.size()) return Total(shape, levels);
    double least = WithCopies(shape, levels, all, number + 1);
    GroupLevels asked = levels;
    const OperandCopies copies(graph_, model_, GroupCost(1), &asked, {}, 0, kAnyPacking, nullptr, "");
    const size_t operand = all[number].operand;
    for (const StagePlace& asks : all[number].stages) {
      const Stage constant = copies.WithConstant(shape, asks, operand);
      const int64_t batch =
          constant.operands[operand].batch_stride == 0 ? 1 : shape.nests[asks.nest].batch.most();
      const bool once = batch == 1;
      // Of each item of a batch a matrix.
      const bool prepacked =
          graph_.IsConstant(constant.operands[operand].value) && (once || constant.repeats == 1);
      for (const Decision& pack : FindPacks(constant, operand, prepacked, batch))
        least =
            std::min(least, WithCopy(shape, levels, all, number, {asks, constant, pack, once, prepacked}));
    }
    return least;
  }

  struct Copied {
    StagePlace asks;
    Stage constant;  // as it reads the matrix
    Decision pack;
    bool once, prepacked;
  };

  // With a matrix lying as one of its readers would have it.
  double WithCopy(GroupShape shape, GroupLevels levels, const std::vector<OperandCopies::Readers>& all,
                  size_t number, const Copied& copied) {
    const size_t operand = all[number].operand;
    const auto& [asks, constant, decision, once, prepacked] = copied;
    const OperandCopies copies(graph_, model_, GroupCost(1), &levels, {}, 0, kAnyPacking, nullptr, "");
    Expansion expansion;
    Expand(constant.spec, decision, target_, &expansion);
    const int value = 10000 + static_cast<int>(number);
    const TensorSpec copy = expansion.children[0].spec.operand[operand];
    // A copy that is there when the call begins is no closer than the constant would be; what all tiles read
    // stays with them from the first on, and nothing else.
    if (prepacked)
      levels.PlacePrepacked(constant.operands[operand].value, value);
    else
      levels.PlaceCopy(value, copy.level);
    for (const StagePlace& reader : all[number].stages) {
      Stage& stage = reader.In(shape);
      if (!HasRoomFor(expansion, copies.WithConstant(shape, reader, operand).spec, operand)) return kNever;
      TensorSpec& matrix = stage.spec.operand[operand];
      const Level own = matrix.level;
      matrix = copy;
      if (prepacked) matrix.level = own;
      stage.operands[operand] = {value, 0, 0, 0, 1};
    }
    Stage pack;
    pack.kind = StageKind::kPack;
    pack.cycles =
        static_cast<double>(constant.repeats) * model_.PackCycles(constant.spec, decision, expansion);
    LoopNest& nest = shape.nests[asks.nest];
    if (!prepacked) (once ? nest.before : nest.once).push_back(pack);
    return WithCopies(shape, levels, all, number + 1);
  }

  // Is there room for the copy? It is there instead of the constant, beside all else that waits in the
  // fastest level: what is more than that must be free. (A constant further away has a level to itself.)
  bool HasRoomFor(const Expansion& made, const Spec& constant, size_t operand) const {
    Level fastest = Level::kRam;
    for (int i = 0; i <= constant.op_info().output(); ++i)
      fastest = std::min(fastest, constant.tensor(i).level);
    const auto number = static_cast<int>(operand);
    if (fastest == Level::kRam || constant.tensor(number).level != fastest) return true;
    int64_t free = target_.at(fastest).bytes / target_.line_bytes;
    for (int i = 0; i < constant.op_info().num_operands; ++i)
      if (constant.tensor(i).level == fastest) free -= FootprintOf(constant, i, target_).lines;
    const Spec& reader = made.children[0].spec;
    const TensorSpec& copy = reader.operand[operand];
    const int64_t elements = PackedElements(ExtentOf(reader, number), copy.layout, copy.dtype, target_);
    const int64_t lines = (elements * Bytes(copy.dtype) + target_.line_bytes - 1) / target_.line_bytes;
    return lines - FootprintOf(constant, number, target_).lines <= std::max<int64_t>(free, 0);
  }

  double Total(GroupShape shape, const GroupLevels& levels) {
    for (const StagePlace& place : FindPlaces(shape)) {
      Stage& stage = place.In(shape);
      for (const StageOperand& operand : stage.operands)
        if (graph_.IsConstant(operand.value) && !Makes(operand.value, PlainCopy{})) return kNever;
      if (stage.kind != StageKind::kContraction) continue;
      Solve(&stage);
      stage.cycles += levels.FetchCycles(shape.nests[place.nest], stage);
    }
    double total = 0;
    for (const LoopNest& nest : shape.nests) total += Total(nest);
    return total;
  }

  // Threads take whole items of the batch, one after the other being copied for; or tiles, everybody making
  // the copies of all items.
  double Total(const LoopNest& nest) const {
    const auto sum = [](const std::vector<Stage>& stages) {
      double cycles = 0;
      for (const Stage& stage : stages) cycles += stage.cycles;
      return cycles;
    };
    const auto batch = static_cast<double>(nest.batch);
    const double tiles = static_cast<double>(nest.trips()) * sum(nest.stages) + sum(nest.rest);
    if (nest.sharing != Sharing::kTiles) return sum(nest.before) + batch * (sum(nest.once) + tiles);
    const auto longest = [&](int64_t tasks) {
      return static_cast<double>((tasks + threads_ - 1) / threads_);
    };
    const double by_items = longest(nest.batch) * (sum(nest.once) + tiles);
    const double by_tiles = batch * sum(nest.once) +
                            longest(nest.batch * nest.tiles()) * tiles / static_cast<double>(nest.tiles());
    return sum(nest.before) + std::min(by_items, by_tiles);
  }

  void Solve(Stage* stage) {
    for (const auto& [spec, result] : solved_)
      if (spec == stage->spec) return Take(result, stage);
    solved_.push_back({stage->spec, Search(stage->spec, model_, memo_, {})});
    Take(solved_.back().second, stage);
  }
  // Threads that a contraction starts are the plan's.
  void Take(const SearchResult& result, Stage* stage) const {
    stage->impl = result.impl;
    const double forks = StartsThreads(result.impl) ? target_.fork_join_cycles : 0;
    stage->cycles = static_cast<double>(stage->repeats) * (ToCycles(result.cost) - forks);
  }
  static bool StartsThreads(const Impl& impl) {
    if (impl.decision.kind == RewriteKind::kParallelTile && impl.decision.parts > 1) return true;
    return std::any_of(impl.children.begin(), impl.children.end(),
                       [](const Impl::Child& child) { return StartsThreads(child.impl); });
  }

  const Graph graph_;
  const Target target_;
  const CostModel model_;
  const GraphUses uses_;
  HashMemo memo_;
  std::vector<std::pair<Spec, SearchResult>> solved_;
  const int threads_;
  const PlanPacking packing_;
  Workers workers_ = Workers::kOne;
  std::map<std::pair<OperationSet, OperationSet>, double> from_;
  std::map<std::pair<OperationSet, Workers>, double> of_;
  std::map<std::string, bool> legal_;
};

// Compares the search with brute force. Notes which rewrites are legal, and which are chosen.
void ExpectExact(const std::string& text, Usage* usage, int threads = 1) {
  const auto requests = ParseKernelFile(text, "test");
  ASSERT_TRUE(requests.ok()) << requests.status() << "\n" << text;
  if (!requests->front().family.graphs()) return;  // a spec
  const Graph graph = requests->front().family.graphs()->member(0);
  const Target target = TinyTarget();
  PlanOptions options;
  options.allow_winograd = true;
  options.threads = threads;
  const absl::StatusOr<PlanResult> found = PlanWith(options, graph, target);
  if (!found.ok()) {  // not all that can be written has a plan as yet
    ++usage->refused;
    return;
  }
  double least = kNever;
  const Graph canonical = CanonicalGraph(graph);
  for (const std::vector<int>& folded : FoldingChoices(canonical, ConstantOperations(canonical, target))) {
    const Graph constant = WithConstants(canonical, folded);
    BruteForce all(constant, target, threads);
    least = std::min(least, all.Cycles());
    if (threads > 1) least = std::min(least, BruteForce(constant, target, 1).Cycles());
    for (const auto& [rewrite, legal] : all.legal()) ++usage->legal[rewrite];
    usage->folded += !folded.empty();
  }
  usage->chosen_folded += !found->plan.graph.FoldedOperations().empty();
  EXPECT_NEAR(found->plan.cycles, least, 1e-6 * least) << text << "\n" << PrintPlanSchedule(found->plan);
  EXPECT_EQ(found->stop, StopReason::kOptimal);
  std::map<std::string, bool> chosen;
  for (const GroupDecision& group : found->plan.groups)
    chosen[std::string(group.candidate.rewrite.name)] = true;
  for (const auto& [rewrite, is] : chosen) ++usage->chosen[rewrite];
}

using Dims = std::vector<int>;

// Draws kernels of two operations.
class Drawer {
 public:
  explicit Drawer(unsigned seed) : random_(seed) {}

  // A kernel in which `second` reads what `first` makes as its argument number `place`; empty: there is none.
  std::string Pair(const OperationInfo& first, const OperationInfo& second, size_t place) {
    parameters_.clear();
    type_ = TakesIntegers(first) && TakesIntegers(second) && Draw(0, 2) == 0 ? "s32" : "f32";
    const int of_first = static_cast<int>(first.image_axes) + 2;
    const auto has_image = [](const OperationInfo& op) { return op.image_axes > 0; };
    const int rank = has_image(second) ? static_cast<int>(second.image_axes) + 2
                     : second.kind == OperationKind::kRowwise && place > 0 ? 1
                     : has_image(first)                                    ? of_first
                                                                           : Draw(2, 3);
    if (rank == 1 && (first.kind == OperationKind::kContraction || first.op == Operation::kTranspose))
      return "";
    if (has_image(first) && rank != of_first) return "";
    Dims dims;
    for (int axis = 0; axis < rank; ++axis) dims.push_back(Draw(0, 3) == 0 ? 1 : Draw(2, rank > 2 ? 6 : 40));
    const std::string made = Call(first, 0, Parameter(dims), &dims);
    const std::string call = Call(second, place, "v", &dims);
    if (call.empty() || made.empty()) return "";
    return Cat("kernel a(", Join(parameters_, ", "), "):\n v = ", made, "\n return ", call);
  }

 private:
  static bool TakesIntegers(const OperationInfo& op) {
    return op.integers || op.kind == OperationKind::kTranspose || op.kind == OperationKind::kCast ||
           op.kind == OperationKind::kAlongAxis || op.kind == OperationKind::kRearrange ||
           op.op == Operation::kMatmul;
  }

  int Draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  std::string Parameter(const Dims& dims) {
    const char* const constant = Draw(0, 5) == 0 ? "const " : "";
    parameters_.push_back(Cat("p", parameters_.size(), ": ", constant, type_, "[", Join(dims, ","), "]"));
    return Cat("p", parameters_.size() - 1);
  }

  // With `value`, of shape `dims`, as an argument; `dims` becomes the result's shape.
  std::string Call(const OperationInfo& op, size_t place, const std::string& value, Dims* dims) {
    Dims& d = *dims;
    if (op.op == Operation::kMatmul) return Matmul(place, value, dims);
    if (op.image_axes > 0) return Convolution(op, place, value, dims);
    if (op.op == Operation::kTranspose) {
      if (d.size() < 2) return "";
      std::swap(d[d.size() - 1], d[d.size() - 2]);
      return Cat("transpose(", value, ")");
    }
    if (op.op == Operation::kCast)
      return Cat("cast(cast(", value, type_ == "f32" ? ", bf16), " : ", s8), ", type_, ")");
    if (op.kind == OperationKind::kRearrange) return Rearranged(op, value, dims);
    if (op.op == Operation::kTake && place > 0) return "";  // by what is no s32
    if (op.kind == OperationKind::kReduction) {
      const size_t axis = static_cast<size_t>(Draw(0, static_cast<int>(d.size()) - 1));
      d[axis] = 1;
      const std::string call = Cat(op.name, "(", value, ", axis=", axis, ")");
      return IsPlace(op.op) ? Cat("cast(", call, ", ", type_, ")") : call;
    }
    if (op.kind == OperationKind::kAlongAxis) return AlongOne(op, place, value, dims);
    std::vector<std::string> arguments;
    for (size_t i = 0; i < static_cast<size_t>(op.arguments); ++i) {
      if (i == place) {
        arguments.push_back(value);
      } else if (op.kind != OperationKind::kRowwise) {
        arguments.push_back(Parameter(Broadcast(d)));
      } else {
        arguments.push_back(Parameter(i == 0 ? Dims{Draw(1, 20), d.back()} : Dims{d.back()}));
      }
    }
    if (op.kind == OperationKind::kRowwise && place > 0) d = {20, d.back()};
    return Cat(op.name, "(", Join(arguments, ", "), ")");
  }

  std::string Rearranged(const OperationInfo& op, const std::string& value, Dims* dims) {
    std::vector<int> numbers = *dims;
    if (op.op == Operation::kPermute) {
      std::iota(numbers.begin(), numbers.end(), 0);
      std::shuffle(numbers.begin(), numbers.end(), random_);
      Dims permuted;
      for (const int axis : numbers) permuted.push_back((*dims)[static_cast<size_t>(axis)]);
      *dims = permuted;
    } else if (op.op == Operation::kReshape) {
      std::shuffle(numbers.begin(), numbers.end(), random_);
      *dims = numbers;
    } else {
      std::replace(numbers.begin(), numbers.end(), 1, 3);
      *dims = numbers;
    }
    return Cat(op.name, "(", value, ", [", Join(numbers, ","), "])");
  }

  std::string AlongOne(const OperationInfo& op, size_t place, const std::string& value, Dims* dims) {
    const size_t axis = static_cast<size_t>(Draw(0, static_cast<int>(dims->size()) - 1));
    int& size = (*dims)[axis];
    std::string options = Cat(", axis=", axis);
    if (op.op == Operation::kConcat) {
      const std::string other = Parameter(*dims);
      size *= 2;
      return Cat("concat(", place == 0 ? value : other, ", ", place == 0 ? other : value, options, ")");
    }
    if (op.op == Operation::kCumsum) return Cat("cumsum(", value, options, ")");
    if (op.op == Operation::kTake) {
      size = Draw(1, 5);
      parameters_.push_back(Cat("p", parameters_.size(), ": s32[", size, "]"));
      return Cat("take(", value, ", p", parameters_.size() - 1, options, ")");
    }
    if (op.op == Operation::kSlice) {
      const int from = Draw(0, size - 1), step = Draw(1, 2);
      size = (size - from + step - 1) / step;
      return Cat("slice(", value, options, ", from=", from, ", step=", step, ")");
    }
    const int before = Draw(0, 1), taps = op.op == Operation::kPad ? 1 : Draw(1, std::min(3, size + before));
    if (taps > 1) options += Cat(", size=", taps);
    size += before - taps + 1;
    return Cat(op.name, "(", value, options, ", before=", before, ")");
  }

  // The same shape, or one that is repeated to it.
  Dims Broadcast(Dims dims) {
    if (Draw(0, 2) == 0) return dims;
    if (Draw(0, 1) == 0) return {dims.back()};
    dims[static_cast<size_t>(Draw(0, static_cast<int>(dims.size()) - 1))] = 1;
    return dims;
  }

  std::string Matmul(size_t place, const std::string& value, Dims* dims) {
    Dims& d = *dims;
    if (d.size() < 2) return "";
    Dims other = d;
    const int size = Draw(1, 24);
    (place == 0 ? other[other.size() - 2] : other.back()) = place == 0 ? d.back() : d[d.size() - 2];
    (place == 0 ? other.back() : other[other.size() - 2]) = size;
    (place == 0 ? d.back() : d[d.size() - 2]) = size;
    const std::string matrix = Parameter(other);
    return place == 0 ? Cat("matmul(", value, ", ", matrix, ")") : Cat("matmul(", matrix, ", ", value, ")");
  }

  std::string Convolution(const OperationInfo& op, size_t place, const std::string& value, Dims* dims) {
    Dims& d = *dims;
    const int axes = static_cast<int>(op.image_axes), pad = op.transposed ? 0 : Draw(0, 1),
              filters = Draw(1, 20);
    // Each tap of a transposed one may be packed or not: of two at most all ways are soon tried.
    if (op.transposed && place > 0 &&
        std::accumulate(d.begin(), d.begin() + axes, 1, std::multiplies<>()) > 2)
      return "";
    std::string arguments;
    if (place == 0) {
      const int least = *std::min_element(d.begin() + 1, d.end() - 1);
      const int kernel = least + 2 * pad >= 3 && Draw(0, 3) > 0 ? 3 : 1;
      Dims taps(op.image_axes, op.transposed ? 1 : kernel);
      if (op.transposed) taps.back() = Draw(1, 2);
      taps.insert(taps.end(), {d.back(), filters});
      arguments = Cat(value, ", ", Parameter(taps));
      for (auto side = d.begin() + 1; side != d.end() - 1; ++side)
        *side += op.transposed ? 0 : 2 * pad - kernel + 1;
      if (op.transposed) d[d.size() - 2] += taps[op.image_axes - 1] - 1;
      d.back() = filters;
    } else {
      const int side = *std::max_element(d.begin(), d.begin() + axes) + Draw(0, 4);
      Dims image(op.image_axes + 2, side);
      image.front() = 1;
      image.back() = d[op.image_axes];
      arguments = Cat(Parameter(image), ", ", value);
    }
    const std::string_view layout = kImageLayouts[op.image_axes - 1][static_cast<size_t>(ImageLayout::kNhwc)];
    return Cat(op.name, "(", arguments, ", layout=", layout, ", pad=", pad, ")");
  }

  std::mt19937 random_;
  std::vector<std::string> parameters_;
  std::string type_ = "f32";  // of the parameters
};

void Report(const Usage& usage) {
  for (const GraphRewrite* rewrite : GraphRewrites()) {
    const std::string name(rewrite->name);
    const auto count = [&](const std::map<std::string, int>& of) {
      return of.contains(name) ? of.at(name) : 0;
    };
    std::fprintf(stderr, "%s: legal in %d, chosen in %d\n", name.c_str(), count(usage.legal),
                 count(usage.chosen));
  }
  std::fprintf(stderr, "refused: %d; ahead: possible in %d ways, chosen in %d\n", usage.refused, usage.folded,
               usage.chosen_folded);
}

// The first operation of each kind and number of arguments.
bool IsFirstOfItsKind(const OperationInfo& operation) {
  return &operation ==
         &*std::find_if(std::begin(kOperations), std::end(kOperations), [&](const OperationInfo& other) {
           return other.kind == operation.kind && other.arguments == operation.arguments;
         });
}

// Ordered pairs of operations in every wiring, one drawn shape each. Each operation meets, on both sides, one
// of every kind: the search knows no more of functions of one kind than what they cost.
TEST(FusionSearchTest, PairsAreBruteForce) {
  Drawer drawer(5);
  Usage usage;
  int drawn = 0;
  for (const OperationInfo& first : kOperations)
    for (const OperationInfo& second : kOperations) {
      if (first.kind == OperationKind::kLeaf || second.kind == OperationKind::kLeaf) continue;
      if (!IsFirstOfItsKind(first) && !IsFirstOfItsKind(second)) continue;
      for (size_t place = 0; place < static_cast<size_t>(second.arguments) && !HasFailure(); ++place)
        if (const std::string text = drawer.Pair(first, second, place); !text.empty()) {
          ExpectExact(text, &usage);
          ++drawn;
        }
    }
  Report(usage);
  EXPECT_GT(drawn, 300);
  EXPECT_LT(usage.refused, 10);
}

// Forms that some rewrites are for, of drawn sizes.
std::string Form(int number, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int m = draw(1, 12), n = draw(17, 40), k = draw(1, 5), side = draw(3, 9), channels = draw(1, 6);
  const int keys = draw(40, 130), deep = 4 * draw(3, 6);
  const int size = 2 << number / 6 % 2, groups = 1 + channels;
  switch (number % 6) {
    case 0:
      return Cat("kernel a(q: f32[", m, ",", k, "], k: f32[", k, ",", keys, "], v: f32[", keys, ",",
                 draw(1, 8), "]):\n return matmul(softmax(matmul(q, k)), v)");
    case 1:
      return Cat("kernel a(x: f32[", draw(1, 3), ",", k, "], w: s8[", k, ",", n, "], s: f32[", n,
                 "]):\n return matmul(x, mul(cast(w, f32), s))");
    case 2:
      return Cat("kernel a(x: f32[1,", side, ",", side, ",", 8 * channels, "], w: f32[3,3,1,", 8 * channels,
                 "]):\n return relu(conv2d(x, w, layout=nhwc, pad=1, groups=", 8 * channels, "))");
    case 3:
      return Cat("kernel a(x: f32[1,", side, ",", side, ",", size * groups, "], w: f32[3,3,", size, ",",
                 size * groups, "]):\n return relu(conv2d(x, w, layout=nhwc, groups=", groups,
                 ", pad=", number / 6 % 2, "))");
    case 4:
      return Cat("kernel a(x: f32[1,", side, ",", side, ",", channels, "], w: f32[3,3,", channels, ",",
                 draw(1, 12), "]):\n return relu(conv2d(x, w, layout=nhwc, pad=1))");
    default:
      return Cat("kernel a(x: f32[1,", side, ",", side, ",", deep, "], w: f32[3,3,", deep, ",",
                 4 * draw(2, 5), "]):\n return relu(conv2d(x, w, layout=nhwc, pad=1))");
  }
}

TEST(FusionSearchTest, WhatRewritesAreForIsBruteForce) {
  Usage usage;
  std::mt19937 random(7);
  for (int round = 0; round < Rounds(66) && !HasFailure(); ++round) ExpectExact(Form(round, random), &usage);
  Report(usage);
  for (const char* rewrite : {"prologue", "online", "bands", "lanes", "parts", "winograd"}) {
    EXPECT_GE(usage.legal[rewrite], 10) << rewrite;
    EXPECT_GE(usage.chosen[rewrite], 2) << rewrite;
  }
}

// Operations on constants, one after the other and beside others.
TEST(FusionSearchTest, FoldedConstantsAreBruteForce) {
  Usage usage;
  std::mt19937 random(11);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < Rounds(30) && !HasFailure(); ++round) {
    const int m = draw(1, 9), k = draw(1, 24), n = draw(1, 24);
    const std::string x = Cat("x: f32[", m, ",", k, "]");
    switch (round % 5) {
      case 0:
        ExpectExact(Cat("kernel a(", x, ", w: const s8[", k, ",", n, "], s: const f32[", n,
                        "]):\n return matmul(x, mul(cast(w, f32), s))"),
                    &usage);
        break;
      case 1:
        ExpectExact(Cat("kernel a(", x, ", w: const f32[", m, ",", k, "], s: f32[", k,
                        "]):\n v = tanh(w)\n return add(mul(x, v), mul(s, reduce_sum(v, axis=0)))"),
                    &usage);
        break;
      case 2:
        ExpectExact(Cat("kernel a(", x, ", w: const f32[", k, ",", m, "]):\n return add(x, transpose(w))"),
                    &usage);
        break;
      case 3:
        ExpectExact(Cat("kernel a(", x, ", w: const f32[", k, ",", n, "], v: const f32[", n, ",", k,
                        "]):\n return matmul(relu(matmul(x, neg(w))), softmax(v))"),
                    &usage);
        break;
      default:
        ExpectExact(Cat("kernel a(", x, ", w: const f32[", n, ",", k, "], s: const f32[", k,
                        "]):\n return softmax(matmul(x, transpose(rmsnorm(w, s))))"),
                    &usage);
    }
  }
  Report(usage);
  EXPECT_GT(usage.folded, 25);
  EXPECT_GT(usage.chosen_folded, 15);
}

// The copy that the last tile would have leaves less room in L2 beside the rows of a tile of two than there
// is.
TEST(FusionSearchTest, ACopyFitsBesideAllItsReaders) {
  Usage usage;
  ExpectExact(
      "kernel a(x: f32[11,11], w: bf16[11,11]):\n v = relu(x)\n return max(matmul(v, transpose(w)), v)\n",
      &usage);
}

// The bands in the middle find the filters where the one before left them, the first and the last don't: a
// copy of the filters is no closer to these because those would have made it.
TEST(FusionSearchTest, PrepacksAreAsFarAsTheConstant) {
  Usage usage;
  ExpectExact(
      "kernel a(p0: const f32[2,6,1,1], p1: f32[1,9,9,1]):\n return conv2d(p1, p0, layout=nhwc, pad=1)\n",
      &usage);
}

// Kernels as they are written. Of dense weights: a matrix of blocks may be as large as all of the tiny L2,
// and then a stage that has it there has no program.
TEST(FusionSearchTest, RandomGraphsAreBruteForce) {
  Usage usage;
  for (int round = 0; round < Rounds(120) && !HasFailure(); ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    const GrammarGraph graph = RandomGrammarGraph(3 + round % 3, random, GrammarWeights::kDense);
    ExpectExact(GrammarText(graph, random), &usage);
  }
  Report(usage);
}

// With phases, and with what each thread does for itself.
TEST(FusionSearchTest, PlansForThreadsAreBruteForce) {
  Usage usage;
  std::mt19937 random(7);
  for (int round = 0; round < 15 && !HasFailure(); ++round) ExpectExact(Form(round, random), &usage, 2);
  for (int round = 0; round < Rounds(30) && !HasFailure(); ++round) {
    std::mt19937 drawn(static_cast<unsigned>(1000 + round));
    const GrammarGraph graph = RandomGrammarGraph(2 + round % 3, drawn, GrammarWeights::kDense);
    ExpectExact(GrammarText(graph, drawn), &usage, 2 + round % 2);
  }
  Report(usage);
}

// Kernels with constants, for so many rows; their sizes are drawn anew every fifth round.
std::string WithConstants(int round, int rows) {
  std::mt19937 random(static_cast<unsigned>(round / 5));
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const int k = draw(1, 20), n = draw(1, 30), p = draw(1, 18), side = draw(3, 6);
  switch (round % 5) {
    case 0:
      return Cat("kernel a(x: f32[", rows, ",", k, "], w: const f32[", k, ",", n, "], b: const f32[", n,
                 "]):\n return tanh(add(relu(matmul(x, w)), b))");
    case 1:
      return Cat("kernel a(x: f32[", rows, ",", k, "], w: const f32[", k, ",", n, "], v: const f32[", n, ",",
                 p, "]):\n return matmul(relu(matmul(x, w)), v)");
    case 2:
      return Cat("kernel a(x: f32[", k, ",", rows, "], w: const f32[", n, ",", k, "], v: const bf16[", n, ",",
                 p, "]):\n return matmul(transpose(v), matmul(w, x))");
    case 3:
      return Cat("kernel a(x: f32[", rows, ",", side, ",", side, ",", 4 * draw(1, 3), "], w: const f32[3,3,",
                 4 * draw(1, 1), ",", draw(1, 12), "]):\n return relu(conv2d(x, w, layout=nhwc, pad=1))");
    default:
      return Cat("kernel a(x: f32[", rows, ",", k, "], w: const f32[", k, ",", k, "]):\n",
                 " return matmul(softmax(matmul(x, w)), transpose(w))");
  }
}

// What a member costs with another member's packing.
TEST(FusionSearchTest, PackingsThatAreGivenAreBruteForce) {
  int dearer = 0, impossible = 0, plans = 0;
  for (int round = 0; round < Rounds(7) && !HasFailure(); ++round) {
    const Target target = TinyTarget();
    std::vector<Graph> members;
    std::vector<PlanResult> own;
    for (int rows : {1, 2, 5, 9}) {
      const auto graph = ParseGraph(Split({WithConstants(round, rows), {}}, '\n'), "test");
      if (!graph.ok()) continue;  // the sizes drawn don't go together
      PlanOptions options;
      options.allow_winograd = true;
      const auto result = PlanWith(options, *graph, target);
      ASSERT_TRUE(result.ok()) << result.status();
      members.push_back(*graph);
      own.push_back(*result);
    }
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t j = 0; j < members.size(); ++j) {
        PlanOptions options;
        options.allow_winograd = true;
        options.packing = FindPacking(own[j].plan);
        const auto found = PlanWith(options, members[i], target);
        const double least = BruteForce(members[i], target, 1, options.packing).Cycles();
        if (!found.ok()) {
          EXPECT_EQ(least, kNever) << PrintGraph(members[i]);
          ++impossible;
          continue;
        }
        ++plans;
        EXPECT_NEAR(found->plan.cycles, least, 1e-6 * least)
            << PrintGraph(members[i]) << PrintPacking(options.packing, members[i]) << "\n"
            << PrintPlan(found->plan);
        if (i == j) {
          EXPECT_EQ(found->plan.cycles, own[i].plan.cycles);
        }
        dearer += found->plan.cycles > own[i].plan.cycles * 1.0001;
        for (const auto& [constant, copies] : FindPacking(found->plan))
          for (const PackedCopy& copy : copies) EXPECT_TRUE(options.packing.at(constant).contains(copy));
        // Nothing costs less than the least.
        options.cutoff = found->plan.cycles;
        const auto none = PlanWith(options, members[i], target);
        ASSERT_TRUE(none.ok());
        EXPECT_TRUE(none->plan.nests.empty());
        EXPECT_GE(none->plan.cycles, options.cutoff);
      }
  }
  std::fprintf(stderr, "%d plans, %d dearer, %d impossible\n", plans, dearer, impossible);
  EXPECT_GT(plans, 50);
  EXPECT_GT(dearer, 5);
}

}  // namespace
}  // namespace kirsch::testing
