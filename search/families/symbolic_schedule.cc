// SPDX-License-Identifier: Apache-2.0
#include "search/families/symbolic_schedule.h"

#include <algorithm>
#include <utility>

#include "memo/spec_hash.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/choice.h"
#include "search/solver/limits.h"
#include "spec/check.h"
#include "spec/microkernel.h"
#include "spec/program/impl_program.h"

namespace kirsch {
namespace {

// A move of the output to registers, below which there is the microkernel.
bool IsRegisterTile(const Impl& node) {
  return node.decision.kind == RewriteKind::kMove && node.decision.level == Level::kVrf;
}

// True for a move of an operand that the spec has there already, or nearer.
bool IsDone(const Impl& node, const Spec& spec) {
  return node.decision.kind == RewriteKind::kMove && node.decision.level != Level::kVrf &&
         spec.tensor(node.decision.operand).level <= node.decision.level;
}

// True if the rows of the operand follow each other without gaps along `dim`.
bool IsContiguous(const Spec& spec, int operand, int dim) {
  const Layout& layout = spec.tensor(operand).layout;
  return layout.kind == LayoutKind::kStrided && InnerDim(spec, operand) == dim &&
         layout.ld == spec.size[static_cast<size_t>(dim)];
}

// True if operand i of both specs is contiguous along the dim, so that its rows are as far apart as the dim's
// size says.
bool HasSymbolicStride(const Spec& a, const Spec& b, int operand, int dim) {
  return IsContiguous(a, operand, dim) && IsContiguous(b, operand, dim) &&
         a.size[static_cast<size_t>(dim)] != b.size[static_cast<size_t>(dim)];
}

}  // namespace

bool DifferInSizeOnly(Spec a, const Spec& b, size_t dim) {
  for (int operand = 0; operand < a.op_info().num_operands; ++operand)
    if (HasSymbolicStride(a, b, operand, static_cast<int>(dim)))
      a.tensor(operand).layout.ld = b.tensor(operand).layout.ld;
  a.size[dim] = b.size[dim];
  return a == b;
}

Spec Resized(Spec spec, size_t dim, uint32_t size) {
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
    if (IsContiguous(spec, operand, static_cast<int>(dim))) spec.tensor(operand).layout.ld = size;
  spec.size[dim] = size;
  return spec;
}

std::optional<uint8_t> SymbolicStrides(const Spec& least, const Spec& most, size_t dim) {
  const bool reduces = dim == MatmulDims::kK;
  if (most.block != 0 && (reduces || static_cast<size_t>(BlockDim(most)) == dim)) return std::nullopt;
  uint8_t strides = 0;
  for (int operand = 0; operand < most.op_info().num_operands; ++operand) {
    if (!HasSymbolicStride(least, most, operand, static_cast<int>(dim))) continue;
    // Kernels take this distance. Of any other operand, it must not matter: then it has a single row.
    if (operand == MatmulDims::kRhs || operand == MatmulDims::kOut ||
        (reduces && operand == MatmulDims::kLhs))
      strides |= static_cast<uint8_t>(1 << operand);
    else if (ExtentOf(most, operand).outer > 1)
      return std::nullopt;
  }
  return strides;
}

bool LeavesRest(const Impl& program, size_t dim) {
  const bool divides = program.decision.kind == RewriteKind::kTile && program.decision.dim == dim;
  return (divides && program.children.size() > 1) ||
         std::any_of(program.children.begin(), program.children.end(),
                     [&](const Impl::Child& child) { return LeavesRest(child.impl, dim); });
}

SymbolicSchedule::SymbolicSchedule(Impl program, size_t dim, const CostModel& model,
                                   const SymbolicScheduleOptions& choice)
    : program_(std::move(program)), dim_(dim), model_(model), choice_(choice) {
  KIRSCH_CHECK(dim != MatmulDims::kK || !choice.own_rest);
}

bool SymbolicSchedule::TilesDim(const Decision& decision) const {
  return decision.kind == RewriteKind::kTile && decision.dim == dim_;
}

// True if the node is a register tile that each size has anew. Along a reduction none is: the loop of a
// register tile goes over any length.
bool SymbolicSchedule::IsChosenAnew(const Impl& node) const {
  return dim_ != MatmulDims::kK && IsRegisterTile(node) && !node.range.varies();
}

// The dim that a node divides which is for a range of its sizes. Each of its children says for how much of
// that dim it is.
std::optional<size_t> SymbolicSchedule::DividedDim(const Impl& node) {
  if (IsRegisterTile(node))
    for (size_t dim : {MatmulDims::kN, MatmulDims::kM})
      if (node.range.varies(dim)) return dim;
  const bool tiles = node.decision.kind == RewriteKind::kTile && node.range.varies(node.decision.dim);
  return tiles ? std::optional<size_t>(node.decision.dim) : std::nullopt;
}

// The spec of a child of a node that divides the dim.
Spec SymbolicSchedule::PartOf(const Impl& node, size_t dim, size_t child, Spec spec) {
  spec.size[dim] = node.children[child].impl.spec.size[dim];
  return spec;
}

// Finds the node of the pattern that decides for a range of specs, from the least size to the spec's own. On
// the way down it skips what disappears: tiles that are not smaller than all of the spec, tiles that consist
// of register tiles, and moves of what is already there.
const Impl& SymbolicSchedule::Deciding(const Impl& pattern, const Spec& spec, uint32_t least) const {
  const uint32_t most = spec.size[dim_];
  const Impl* node = &pattern;
  for (;;) {
    if (choice_.any_placement && IsDone(*node, spec)) {
      node = &node->children.front().impl;
      continue;
    }
    const Impl* below = node;
    while (TilesDim(below->decision)) below = &below->children.front().impl;
    if (IsChosenAnew(*below)) return *below;
    if (!TilesDim(node->decision) || node->decision.size < most) return *node;
    // A tile of just the most size disappears for the most, but it is a rest for smaller sizes. If rests are
    // treated in a way of their own, the range has both.
    const bool whole = node->decision.size == most;
    if (choice_.own_rest && whole && least < most) return *node;
    node = &PatternOf(*node, node->decision, whole ? 0 : 1);
  }
}

// The pattern for a child of what `decision` makes of the node's spec. A rest has the pattern of a whole
// tile, or of the rest there was. If the node was a register tile, tiles of the dim are register tiles, too.
const Impl& SymbolicSchedule::PatternOf(const Impl& node, const Decision& decision, size_t child) const {
  if (IsChosenAnew(node) && decision.kind == RewriteKind::kTile) return node;
  if (!TilesDim(decision)) return node.children[child].impl;
  return (child > 0 && choice_.own_rest ? node.children.back() : node.children.front()).impl;
}

Decision SymbolicSchedule::TileOf(uint32_t size) const {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = static_cast<uint8_t>(dim_);
  decision.size = size;
  return decision;
}

// A part of a root keeps the strides of the whole, so only the size changes. Resized is for roots.
Spec SymbolicSchedule::WithSize(Spec spec, uint32_t size) const {
  spec.size[dim_] = size;
  return spec;
}

// True if a decision of the pattern is legal for this spec. Tiles of other dims are what they were for the
// solved program. The lattice of sizes is for the search only: any other tile is a program as well. So is a
// copy whose panels are wider than all there is, and a microkernel that prefetches beyond the end of what is
// left of a reduction.
bool SymbolicSchedule::IsLegalHere(const Impl& node, const Spec& spec, const Decision& decision,
                                   const Expansion& expansion) const {
  if (TilesDim(decision)) return true;
  if (static_cast<size_t>(expansion.num_children) != node.children.size()) return false;
  if (decision.kind == RewriteKind::kTile) return true;
  Spec wide = spec;
  uint32_t& columns = wide.size[MatmulDims::kN];
  if (decision.kind == RewriteKind::kPack && decision.operand == MatmulDims::kRhs)
    columns = std::max(columns, uint32_t{decision.layout.panel});
  uint32_t& steps = wide.size[MatmulDims::kK];
  if (dim_ == MatmulDims::kK && decision.kind == RewriteKind::kMicrokernel)
    steps = std::max(steps, node.spec.size[MatmulDims::kK]);
  return IsLegal(wide, decision, model_.target());
}

size_t SymbolicSchedule::HashQuestion::operator()(const Question& question) const {
  return HashOf(question.spec) ^ (reinterpret_cast<uintptr_t>(question.pattern) * 31 + question.available);
}

SymbolicSchedule::Answer SymbolicSchedule::AskRoot(const Spec& placed_root) {
  return Ask(program_, placed_root, AvailableAtPlacement(placed_root, model_.target()));
}

SymbolicSchedule::Answer SymbolicSchedule::Ask(const Impl& pattern, const Spec& spec, Lines available) {
  const Impl& node = Deciding(pattern, spec, spec.size[dim_]);
  // Register tiles fill no lines, so one answer serves any number.
  if (IsChosenAnew(node)) available = 0;  // they take none
  const Question question{&node, spec, available};
  if (const auto known = known_.find(question); known != known_.end()) return known->second;
  const std::optional<size_t> divided = DividedDim(node);
  const Answer answer = IsChosenAnew(node) ? AskRegisterTiles(node, spec, available)
                        : divided          ? AskParts(node, spec, *divided, available)
                                           : AskChildren(node, spec, DecisionFor(node, spec), available);
  known_.emplace(question, answer);
  return answer;
}

// The answer for a node that divides a range of another dim. Its parts are for different members, so the sum
// says only that each part has a price.
SymbolicSchedule::Answer SymbolicSchedule::AskParts(const Impl& node, const Spec& spec, size_t dim,
                                                    Lines available) {
  Answer answer{0};
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Answer part = Ask(node.children[i].impl, PartOf(node, dim, i, spec), available);
    if (part.cost >= kInfiniteCost) return {};
    answer.cost += part.cost;
    answer.heights |= part.heights;
  }
  return answer;
}

// Prices a node with a given decision by the search's own rules: legal decisions, lines left, and affine
// costs.
SymbolicSchedule::Answer SymbolicSchedule::AskChildren(const Impl& node, const Spec& spec,
                                                       const Decision& decision, Lines available) {
  Expansion expansion;
  Expand(spec, decision, model_.target(), &expansion);
  if (!IsLegalHere(node, spec, decision, expansion)) return {};
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  if (below < 0) return {};
  Answer answer{model_.Base(spec, decision, expansion)};
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Answer child = Ask(PatternOf(node, decision, i), expansion.children[i].spec, below);
    if (child.cost >= kInfiniteCost) return {};
    answer.cost += expansion.children[i].weight * child.cost;
    answer.heights |= child.heights;
  }
  return answer;
}

uint32_t SymbolicSchedule::Lanes(const Impl& node) const {
  return static_cast<uint32_t>(SizesOfTile(node.decision.layout, dim_));
}

// Sizes up to a multiple of the unit share a register tile, as its last vector may be partial. Narrower
// vectors make smaller units.
uint32_t SymbolicSchedule::Unit(const Impl& node) const {
  uint32_t unit = Lanes(node);
  if (node.decision.layout.kind == LayoutKind::kTiles) return unit;
  for (const VectorUnit& vectors : model_.target().vectors)
    if (unit > 1 && choice_.narrow_vectors)
      unit = std::min(unit, static_cast<uint32_t>(vectors.lanes(AccumulatorOf(node.spec))));
  return unit;
}

// The register layouts that may take the place of the pattern's. Narrower vectors suit columns that are left.
// And the fewer sums there are, the more often they are split, so both kinds are tried.
std::vector<Layout> SymbolicSchedule::RegisterLayouts(const Impl& node, const Spec& spec) {
  const Layout& own = node.decision.layout;
  if (own.kind == LayoutKind::kTiles) return {own};
  // Only columns behind the whole tiles may have narrower vectors.
  const bool narrower = Unit(node) != Lanes(node) && spec.size[dim_] < MainTileOf(node, spec).tile;
  std::vector<Layout> layouts;
  for (const VectorUnit& vectors : model_.target().vectors) {
    const int lanes = vectors.lanes(AccumulatorOf(spec));
    if (narrower ? static_cast<uint32_t>(lanes) > Lanes(node) : lanes != own.panel) continue;
    Layout layout = own;
    layout.panel = static_cast<decltype(layout.panel)>(lanes);
    if (IsOfVectors(own.kind)) layout.kind = LayoutKind::kVectors;
    layouts.push_back(layout);
    if (!IsOfVectors(own.kind)) continue;
    layout.kind = LayoutKind::kChains;
    layouts.push_back(layout);
  }
  return layouts;
}

// The cheapest of these layouts, and the same one for all sizes of a unit; the pattern's if none is legal.
Decision SymbolicSchedule::RegisterDecision(const Impl& node, const Spec& spec) {
  const uint32_t unit = Unit(node);
  const Spec few = WithSize(spec, (spec.size[dim_] - 1) / unit * unit + 1);
  Decision best = node.decision;
  Cost least = kInfiniteCost;
  for (const Layout& layout : RegisterLayouts(node, spec)) {
    Decision tried = node.decision;
    tried.layout = layout;
    const Cost cost = AskChildren(node, few, tried, 0).cost;
    if (cost >= least) continue;
    best = tried;
    least = cost;
  }
  return best;
}

// The pattern's decision. The exception is a microkernel that prefetches: how far ahead may be a tile of its
// own size, so it is chosen anew, unless the dim is the reduction. While out is in registers, microkernels
// are the only decisions.
Decision SymbolicSchedule::DecisionFor(const Impl& node, const Spec& spec) const {
  Decision best = node.decision;
  if (best.kind != RewriteKind::kMicrokernel || best.size == 0 || dim_ == MatmulDims::kK) return best;
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model_.target(), &decisions);
  Cost least = kInfiniteCost;
  for (const Decision& decision : decisions) {
    Expansion expansion;
    Expand(spec, decision, model_.target(), &expansion);
    const Cost cost = model_.Base(spec, decision, expansion);
    if (cost >= least) continue;
    best = decision;
    least = cost;
  }
  return best;
}

// The whole size as one register tile. Without vectors along the dim, its height must be among the choices,
// which go up to 31.
SymbolicSchedule::Answer SymbolicSchedule::AskOneTile(const Impl& node, const Spec& spec) {
  const uint32_t size = spec.size[dim_];
  const bool vectors = Lanes(node) > 1;
  if (!vectors && (size >= 32 || (choice_.heights >> size & 1) == 0)) return {};
  Answer tile = AskChildren(node, spec, RegisterDecision(node, spec), 0);
  tile.tile = size;
  if (tile.cost < kInfiniteCost && !vectors) tile.heights = TileHeights{1} << size;
  return tile;
}

// The register tile that most of the size has. Along vectors it is that of the solved program, as the panels
// of copies suit such tiles. Otherwise it is the cheapest per row; of equal ones, the tallest.
SymbolicSchedule::MainTile SymbolicSchedule::MainTileOf(const Impl& node, const Spec& spec) {
  const auto [known, is_new] = main_tiles_.try_emplace(&node);
  if (!is_new) return known->second;
  if (const uint32_t unit = Lanes(node); unit > 1) {
    const uint32_t panel = node.spec.operand[MatmulDims::kRhs].layout.panel,
                   whole = panel != 0 ? panel : unit;
    return main_tiles_[&node] = {(node.spec.size[dim_] + whole - 1) / whole * whole, 0};
  }
  MainTile best;
  double least = 0;
  for (uint32_t rows = 31; rows > 0; --rows) {
    const Cost cost = AskOneTile(node, WithSize(spec, rows)).cost;
    const double per_row = static_cast<double>(cost) / rows;
    if (cost >= kInfiniteCost || (best.tile != 0 && per_row >= least)) continue;
    best.tile = rows;
    least = per_row;
  }
  best.min_tail = best.tile > 1 ? choice_.min_tail_tiles * best.tile : 0;
  return main_tiles_[&node] = best;
}

// The cost of a loop over tiles of so many rows.
Cost SymbolicSchedule::TilingCost(const Spec& spec, uint32_t rows) const {
  Expansion expansion;
  Expand(spec, TileOf(rows), model_.target(), &expansion);
  return model_.Base(spec, TileOf(rows), expansion);
}

// Whole tiles of the main height, and then the rows that are left. With few rows, all are what is left.
SymbolicSchedule::Answer SymbolicSchedule::AskRegisterTiles(const Impl& node, const Spec& spec,
                                                            Lines available) {
  const MainTile main = MainTileOf(node, spec);
  const uint32_t rows = spec.size[dim_];
  if (main.tile == 0) return {};
  if (rows <= main.most_left()) return AskFew(node, spec, available);
  const uint32_t left = main.Left(rows), whole = rows - left;
  // Whole tiles and as many rows that are left are one tile, which runs twice.
  if (whole == left) return AskTiles(node, spec, left, available);
  Answer answer = AskOneTile(node, WithSize(spec, main.tile));
  if (answer.cost >= kInfiniteCost) return {};
  answer.cost *= whole / main.tile;
  if (whole > main.tile) answer.cost += TilingCost(WithSize(spec, whole), main.tile);
  if (left != 0) {
    const Answer rest = Ask(node, WithSize(spec, left), available);
    if (rest.cost >= kInfiniteCost) return {};
    answer.cost += rest.cost + TilingCost(spec, std::max(whole, left));
    answer.heights |= rest.heights;
  }
  answer.tile = whole;
  return answer;
}

// The cheapest way to divide few rows: one tile, or two parts, each divided in its turn. Vectors are not
// divided.
SymbolicSchedule::Answer SymbolicSchedule::AskFew(const Impl& node, const Spec& spec, Lines available) {
  Answer best = AskOneTile(node, spec);
  if (Lanes(node) > 1) return best;
  for (uint32_t tile = spec.size[dim_] - 1; tile > 0; --tile) {
    const Answer tiles = AskTiles(node, spec, tile, available);
    if (tiles.cost < best.cost) best = tiles;
  }
  return best;
}

// Tiles of so many rows, and what they leave.
SymbolicSchedule::Answer SymbolicSchedule::AskTiles(const Impl& node, const Spec& spec, uint32_t tile,
                                                    Lines available) {
  Answer tiles = AskChildren(node, spec, TileOf(tile), available);
  tiles.tile = tile;
  return tiles;
}

Impl SymbolicSchedule::Apply(const Spec& placed_root) {
  return Build(program_, placed_root, AvailableAtPlacement(placed_root, model_.target()));
}

// Makes the program whose price Ask has found, by the same choices.
Impl SymbolicSchedule::Build(const Impl& pattern, const Spec& spec, Lines available) {
  const Impl& node = Deciding(pattern, spec, spec.size[dim_]);
  if (IsChosenAnew(node)) return BuildRegisterTiles(node, spec, available);
  return BuildNode(node, spec, DecisionFor(node, spec), available);
}

Impl SymbolicSchedule::BuildNode(const Impl& node, const Spec& spec, const Decision& decision,
                                 Lines available) {
  if (const std::optional<size_t> dim = DividedDim(node)) {
    Impl program{spec, decision, {}, node.range};
    for (size_t i = 0; i < node.children.size(); ++i)
      program.children.push_back(
          {node.children[i].trips, Build(node.children[i].impl, PartOf(node, *dim, i, spec), available)});
    return program;
  }
  Impl program = BuildProgram(spec, decision, available, model_.target(),
                              [&](const Expansion& expansion, size_t i, Lines below) {
                                return Build(PatternOf(node, decision, i), expansion.children[i].spec, below);
                              });
  program.range = node.range;
  return program;
}

// Register tiles for more rows than are ever left: a tile of all whole tiles, and the rest behind it. If the
// rest has more rows than the whole tiles, it comes first, as a tile is no smaller than what it leaves. Any
// order is the same program.
Impl SymbolicSchedule::BuildRegisterTiles(const Impl& node, const Spec& spec, Lines available) {
  const uint32_t rows = spec.size[dim_], first = Ask(node, spec, available).tile, left = rows - first;
  const MainTile main = MainTileOf(node, spec);
  if (rows <= main.most_left() || first == left)
    return BuildNode(node, spec, left == 0 ? RegisterDecision(node, spec) : TileOf(first), available);
  const Spec tile = WithSize(spec, main.tile);
  Impl whole = BuildNode(node, tile, RegisterDecision(node, tile), available);
  if (first > main.tile)
    whole = {WithSize(spec, first), TileOf(main.tile), {{first / main.tile, std::move(whole)}}};
  if (left == 0) return whole;
  Impl rest = Build(node, WithSize(spec, left), available);
  Impl tiles{spec, TileOf(std::max(first, left)), {}};
  if (first < left) std::swap(whole, rest);
  tiles.children.push_back({1, std::move(whole)});
  tiles.children.push_back({1, std::move(rest)});
  return tiles;
}

// Makes the program for a single size. False: it has no price, as the decisions don't suit it.
bool SymbolicSchedule::BuildPriced(const Impl& pattern, const Spec& spec, Lines available, Impl* program) {
  if (Ask(pattern, spec, available).cost >= kInfiniteCost) return false;
  *program = Build(pattern, spec, available);
  return true;
}

std::optional<Impl> SymbolicSchedule::ApplyToRange(const Spec& least, const Spec& most) {
  const std::optional<uint8_t> strides = SymbolicStrides(least, most, dim_);
  // A kernel takes one distance of rows only, so the strides of two dims can't both be symbolic.
  if (!strides || (*strides != 0 && program_.range.symbolic_strides != 0)) return std::nullopt;
  symbolic_strides_ = *strides;
  Impl range;
  const Lines available = AvailableAtPlacement(most, model_.target());
  if (!BuildRange(program_, most, least.size[dim_], available, &range)) return std::nullopt;
  return range;
}

// Makes a program for all sizes from `least` to the spec's. A single size is an ordinary program. Otherwise
// the node that decides gets a range, and each kind of node has its own form (impl.h).
bool SymbolicSchedule::BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Lines available,
                                  Impl* range) {
  if (least == spec.size[dim_]) return BuildPriced(pattern, spec, available, range);
  const Impl& node = Deciding(pattern, spec, least);
  *range = Impl{spec, node.decision, {}, node.range};
  // The range says which sizes, and which strides, are symbols.
  range->range.least[dim_] = least;
  range->range.symbolic_strides |= symbolic_strides_;
  if (IsChosenAnew(node)) return BuildRegisterRange(node, spec, least, available, range);
  if (const std::optional<size_t> dim = DividedDim(node)) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      range->children.push_back({node.children[i].trips, {}});
      if (!BuildRange(node.children[i].impl, PartOf(node, *dim, i, spec), least, available,
                      &range->children.back().impl))
        return false;
    }
    return true;
  }
  if (const Impl* const tile = TilesOf(node, spec))
    return BuildFewRange(*tile, node, spec, least, available, range);
  if (!ReductionMayVary(node, spec)) return false;
  if (TilesDim(node.decision) && dim_ == MatmulDims::kK)
    return BuildLengths(node, spec, least, available, range);
  if (TilesDim(node.decision)) {
    Impl whole;
    return BuildPriced(PatternOf(node, node.decision, 0), WithSize(spec, node.decision.size), available,
                       &whole) &&
           BuildTiles(PatternOf(node, node.decision, 1), spec, least, available, std::move(whole), range);
  }
  // Threads' parts of a dim would depend on its size.
  if (node.decision.kind == RewriteKind::kParallelTile && node.decision.dim == dim_) return false;
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  if (node.decision.kind == RewriteKind::kPack && !CopyMayVaryHere(node, spec, expansion.children[0].spec))
    return false;
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  range->children.resize(static_cast<size_t>(expansion.num_children));
  for (size_t i = 0; i < range->children.size(); ++i) {
    const Expansion::Child& child = expansion.children[i];
    range->children[i].trips = child.trips;
    if (!BuildRange(PatternOf(node, node.decision, i), child.spec, least, below, &range->children[i].impl))
      return false;
  }
  return true;
}

// True if there is code for a copy along the dim. Only one size of a copy may be known at run time only.
bool SymbolicSchedule::CopyMayVaryHere(const Impl& node, const Spec& spec, const Spec& copied) const {
  const OperandInfo& operand = spec.op_info().operands[node.decision.operand];
  if (!operand.UsesDim(static_cast<int>(dim_))) return true;
  for (size_t other = 0; other < spec.size.size(); ++other)
    if (node.range.varies(other) && operand.UsesDim(static_cast<int>(other))) return false;
  return CopyMayVary(spec, copied, node.decision.operand, static_cast<int>(dim_), model_.target());
}

// A loop over whole register tiles, and behind it register tiles for each number of rows that may be left.
// With a minimum tail, there is always something left.
bool SymbolicSchedule::BuildRegisterRange(const Impl& node, const Spec& spec, uint32_t least, Lines available,
                                          Impl* range) {
  const MainTile main = MainTileOf(node, spec);
  if (main.tile == 0) return false;
  const uint32_t most = spec.size[dim_], most_left = main.most_left();
  if (most <= most_left) return BuildFewRange(node, node, spec, least, available, range);
  range->decision = TileOf(main.tile);
  const Spec one = WithSize(spec, main.tile);
  Impl tile = BuildNode(node, one, RegisterDecision(node, one), available);
  if (main.min_tail == 0) return BuildTiles(node, spec, least, available, std::move(tile), range);
  range->children.push_back({1, std::move(tile)});
  range->children.push_back({1, {}});
  return BuildRange(node, WithSize(spec, most_left), std::min(least, main.min_tail), available,
                    &range->children.back().impl);
}

// Where rows vary, too: the register tile of all the columns that the node divides the rows of. How
// many rows suit it is chosen anew then, so each number of columns needs tiles of its own. Null: there is
// none.
const Impl* SymbolicSchedule::TilesOf(const Impl& node, const Spec& spec) {
  if (!choice_.rows_and_columns || dim_ != MatmulDims::kN || node.decision.kind != RewriteKind::kTile ||
      TilesDim(node.decision))
    return nullptr;
  const Impl* below = &node;
  while (below->decision.kind == RewriteKind::kTile &&
         (!TilesDim(below->decision) || below->decision.size >= spec.size[dim_]))
    below = &below->children.front().impl;
  const bool all = IsChosenAnew(*below) && spec.size[dim_] <= MainTileOf(*below, spec).tile;
  return all ? below : nullptr;
}

// Register tiles, or `tiles` of them, for each size. If they have vectors along the dim, each serves a unit
// of sizes. Example, of sizes 3..20 and a unit of 8: three tiles, for 3..8, 9..16 and 17..20 columns. They
// are built for 7, 15 and 20 columns, so that the code's last vector is partial.
bool SymbolicSchedule::BuildFewRange(const Impl& node, const Impl& tiles, const Spec& spec, uint32_t least,
                                     Lines available, Impl* range) {
  const uint32_t unit = Unit(node), most = spec.size[dim_];
  if (Lanes(node) > 1 && !VectorsMayVary(spec, Lanes(node))) return false;
  range->decision = node.decision;
  if (unit > 1) range->decision.layout.panel = static_cast<decltype(range->decision.layout.panel)>(unit);
  for (uint32_t size = least, end = 0; size <= most; size = end) {
    end = (size + unit - 1) / unit * unit + 1;
    const Spec few = WithSize(spec, unit == 1 ? size : std::min(end - 2, most));
    range->children.push_back({1, {}});
    if (!BuildPriced(tiles, few, available, &range->children.back().impl)) return false;
  }
  return true;
}

// True if there are masked accesses to all that a register tile reads and writes as vectors of `lanes` along
// the dim. Packed operands need none, as they are read in whole vectors.
bool SymbolicSchedule::VectorsMayVary(const Spec& spec, uint32_t lanes) const {
  bool all = spec.operand[MatmulDims::kRhs].layout.panel % lanes == 0;
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    const TensorSpec& tensor = spec.tensor(operand);
    if (tensor.layout.kind != LayoutKind::kPacked &&
        spec.op_info().operands[static_cast<size_t>(operand)].UsesDim(static_cast<int>(dim_)))
      all = all && LanesMayVary(tensor.dtype, model_.target());
  }
  return all;
}

// True if there is code for a reduction whose length is known at run time only. Each of its tiles learns only
// then whether it adds to what is there. Sums in a fixed order begin with what is there, and can't be told so
// late.
bool SymbolicSchedule::ReductionMayVary(const Impl& node, const Spec& spec) const {
  if (dim_ != MatmulDims::kK) return true;
  if (TilesDim(node.decision)) return spec.accumulate || spec.fixed_order == 0;
  return !IsRegisterTile(node) || LengthMayVary(spec, node.decision.layout, model_.target());
}

// Tiles of a reduction. The last one is what is left, as it may have an epilogue: so there is always
// something left, up to a whole tile. Example, of tiles of 64: 100 to 120 steps leave 36 to 56, and 128 steps
// leave 64.
bool SymbolicSchedule::BuildLengths(const Impl& node, const Spec& spec, uint32_t least, Lines available,
                                    Impl* range) {
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  const Impl& pattern = node.children.front().impl;
  const uint32_t size = node.decision.size, most = spec.size[dim_];
  const bool same_trips = (least - 1) / size == (most - 1) / size;
  const uint32_t least_left = same_trips ? (least - 1) % size + 1 : 1;
  const uint32_t most_left = same_trips ? (most - 1) % size + 1 : size;
  if (least_left == most_left) return false;  // single steps, of which nobody asks what may vary
  range->children.resize(2);
  if (!BuildPriced(pattern, expansion.children[0].spec, available, &range->children.front().impl))
    return false;
  return BuildRange(pattern, WithSize(spec, most_left), least_left, available, &range->children.back().impl);
}

// Whole tiles, and a rest of any number of rows that sizes of the range can leave. Example, of tiles of 6
// rows: sizes 14 to 17 leave 2 to 5 rows. So do sizes 14 to 18, as 18 leaves nothing. Sizes 14 to 19 leave
// any number from 1 to 5.
bool SymbolicSchedule::BuildTiles(const Impl& pattern, const Spec& spec, uint32_t least, Lines available,
                                  Impl whole, Impl* range) {
  const uint32_t size = whole.spec.size[dim_], most = spec.size[dim_];
  const bool same_trips = least / size == most / size;
  const bool same_but_last = least / size + 1 == most / size && most % size == 0;
  const uint32_t least_left = std::max(same_trips || same_but_last ? least % size : 1, 1u);
  const uint32_t most_left = same_trips ? most % size : size - 1;
  range->children.push_back({1, std::move(whole)});
  if (most_left < least_left) return true;
  range->children.push_back({1, {}});
  return BuildRange(pattern, WithSize(spec, most_left), least_left, available, &range->children.back().impl);
}

}  // namespace kirsch
