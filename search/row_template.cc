#include "search/row_template.h"

#include <algorithm>
#include <utility>

#include "memo/spec_hash.h"
#include "rewrites/rewrite.h"
#include "search/limits.h"

namespace kirsch {
namespace {

constexpr size_t kM = MatmulDims::kM;

bool TilesRows(const Decision& decision) { return decision.kind == RewriteKind::kTile && decision.dim == kM; }

bool IsRegisterTile(const Impl& node) {
  return node.decision.kind == RewriteKind::kMove && node.decision.level == Level::kVrf;
}

// What decides for the spec: tiles of rows that are not smaller than it disappear, and so do those that are
// made of register tiles.
const Impl& Deciding(const Impl& pattern, const Spec& spec) {
  const Impl* below = &pattern;
  while (TilesRows(below->decision)) below = &below->children.front().impl;
  if (IsRegisterTile(*below)) return *below;
  const Impl* node = &pattern;
  while (TilesRows(node->decision) && node->decision.size >= spec.size[kM])
    node = &node->children.front().impl;
  return *node;
}

// The pattern for a child of what `decision` makes of the node's spec: that of rows that are left is that of
// the whole tile; where a register tile was, tiles of rows are register tiles, too.
const Impl& PatternOf(const Impl& node, const Decision& decision, size_t child) {
  if (IsRegisterTile(node) && decision.kind == RewriteKind::kTile) return node;
  return node.children[TilesRows(decision) ? 0 : child].impl;
}

Decision TileOfRows(uint32_t rows) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = kM;
  decision.size = rows;
  return decision;
}

Spec WithRows(Spec spec, uint32_t rows) {
  spec.size[kM] = rows;
  return spec;
}

// Tiles of other dims are what they were for the program that decisions are from. The lattice of rows is for
// the search: any other height is a program as well.
bool IsLegalHere(const Impl& node, const Spec& spec, const Decision& decision, const Expansion& expansion,
                 const Target& target) {
  if (TilesRows(decision)) return true;
  if (static_cast<size_t>(expansion.num_children) != node.children.size()) return false;
  return decision.kind == RewriteKind::kTile || IsLegal(spec, decision, target);
}

}  // namespace

RowTemplate::RowTemplate(Impl program, const CostModel& model, const RegisterRows& choice)
    : program_(std::move(program)), model_(model), choice_(choice) {}

size_t RowTemplate::HashQuestion::operator()(const Question& question) const {
  return HashOf(question.spec) ^ (reinterpret_cast<uintptr_t>(question.pattern) * 31 + question.available);
}

RowTemplate::Answer RowTemplate::AskRoot(const Spec& placed_root) {
  return Ask(program_, placed_root, AvailableAtHome(placed_root, model_.target()));
}

RowTemplate::Answer RowTemplate::Ask(const Impl& pattern, const Spec& spec, Lines available) {
  const Impl& node = Deciding(pattern, spec);
  if (IsRegisterTile(node)) available = 0;  // they take none
  const Question question{&node, spec, available};
  if (const auto known = known_.find(question); known != known_.end()) return known->second;
  const Answer answer = IsRegisterTile(node) ? AskRegisterTiles(node, spec, available)
                                             : AskChildren(node, spec, node.decision, available);
  known_.emplace(question, answer);
  return answer;
}

RowTemplate::Answer RowTemplate::AskChildren(const Impl& node, const Spec& spec, const Decision& decision,
                                             Lines available) {
  Expansion expansion;
  Expand(spec, decision, model_.target(), &expansion);
  if (!IsLegalHere(node, spec, decision, expansion, model_.target())) return {};
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

RowTemplate::Answer RowTemplate::AskOneTile(const Impl& node, const Spec& spec) {
  const uint32_t rows = spec.size[kM];
  if (rows >= 32 || (choice_.heights >> rows & 1) == 0) return {};
  Answer tile = AskChildren(node, spec, node.decision, 0);
  tile.tile = rows;
  if (tile.cost < kInfiniteCost) tile.heights = TileHeights{1} << rows;
  return tile;
}

// The cheapest per row; of equal ones, the tallest.
RowTemplate::MainTile RowTemplate::MainTileOf(const Impl& node, const Spec& spec) {
  const auto [known, is_new] = main_tiles_.try_emplace(&node);
  if (!is_new) return known->second;
  MainTile best;
  double least = 0;
  for (uint32_t rows = 31; rows > 0; --rows) {
    const Cost cost = AskOneTile(node, WithRows(spec, rows)).cost;
    const double per_row = static_cast<double>(cost) / rows;
    if (cost >= kInfiniteCost || (best.tile != 0 && per_row >= least)) continue;
    best.tile = rows;
    least = per_row;
  }
  best.kept = best.tile > 1 ? choice_.kept_tiles * best.tile : 0;
  return main_tiles_[&node] = best;
}

// What it takes to go over tiles of so many rows.
Cost RowTemplate::TilingCost(const Spec& spec, uint32_t rows) const {
  Expansion expansion;
  Expand(spec, TileOfRows(rows), model_.target(), &expansion);
  return model_.Base(spec, TileOfRows(rows), expansion);
}

RowTemplate::Answer RowTemplate::AskRegisterTiles(const Impl& node, const Spec& spec, Lines available) {
  const MainTile main = MainTileOf(node, spec);
  const uint32_t rows = spec.size[kM];
  if (main.tile == 0) return {};
  if (rows <= main.most_left()) return AskFewRows(node, spec, available);
  const uint32_t left = main.Left(rows), whole = rows - left;
  Answer answer = AskOneTile(node, WithRows(spec, main.tile));
  answer.cost *= whole / main.tile;
  if (whole > main.tile) answer.cost += TilingCost(WithRows(spec, whole), main.tile);
  if (left != 0) {
    const Answer rest = Ask(node, WithRows(spec, left), available);
    answer.cost += rest.cost + TilingCost(spec, std::max(whole, left));
    answer.heights |= rest.heights;
  }
  answer.tile = whole;
  return answer;
}

// One tile, or those of two parts.
RowTemplate::Answer RowTemplate::AskFewRows(const Impl& node, const Spec& spec, Lines available) {
  Answer best = AskOneTile(node, spec);
  for (uint32_t tile = spec.size[kM] - 1; tile > 0; --tile) {
    Answer tiles = AskChildren(node, spec, TileOfRows(tile), available);
    tiles.tile = tile;
    if (tiles.cost < best.cost) best = tiles;
  }
  return best;
}

Impl RowTemplate::Apply(const Spec& placed_root) {
  return Build(program_, placed_root, AvailableAtHome(placed_root, model_.target()));
}

Impl RowTemplate::Build(const Impl& pattern, const Spec& spec, Lines available) {
  const Impl& node = Deciding(pattern, spec);
  if (IsRegisterTile(node)) return BuildRegisterTiles(node, spec, available);
  return BuildNode(node, spec, node.decision, available);
}

Impl RowTemplate::BuildNode(const Impl& node, const Spec& spec, const Decision& decision, Lines available) {
  Impl program{spec, decision, {}};
  Expansion expansion;
  Expand(spec, decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Expansion::Child& child = expansion.children[i];
    program.children.push_back({child.trips, Build(PatternOf(node, decision, i), child.spec, below)});
  }
  return program;
}

// More rows than are ever left: a tile that holds all whole tiles, and what is left behind it. (As the rows
// that are left may be the more of the two, they are the first then: any order is the same program.)
Impl RowTemplate::BuildRegisterTiles(const Impl& node, const Spec& spec, Lines available) {
  const uint32_t rows = spec.size[kM], first = Ask(node, spec, available).tile, left = rows - first;
  const MainTile main = MainTileOf(node, spec);
  if (rows <= main.most_left())
    return BuildNode(node, spec, left == 0 ? node.decision : TileOfRows(first), available);
  Impl whole = BuildNode(node, WithRows(spec, main.tile), node.decision, available);
  if (first > main.tile)
    whole = {WithRows(spec, first), TileOfRows(main.tile), {{first / main.tile, std::move(whole)}}};
  if (left == 0) return whole;
  Impl rest = Build(node, WithRows(spec, left), available);
  Impl tiles{spec, TileOfRows(std::max(first, left)), {}};
  tiles.children.push_back({1, first < left ? std::move(rest) : std::move(whole)});
  tiles.children.push_back({1, first < left ? std::move(whole) : std::move(rest)});
  return tiles;
}

std::optional<Impl> RowTemplate::ApplyToRange(const Spec& placed_root, uint32_t least) {
  Impl range;
  const Lines available = AvailableAtHome(placed_root, model_.target());
  if (!BuildRange(program_, placed_root, least, available, &range)) return std::nullopt;
  return range;
}

bool RowTemplate::BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Lines available,
                             Impl* range) {
  if (least == spec.size[kM]) {
    *range = Build(pattern, spec, available);
    return true;
  }
  const Impl& node = Deciding(pattern, spec);
  *range = Impl{spec, node.decision, {}, least};
  if (IsRegisterTile(node)) return BuildRegisterRange(node, spec, least, available, range);
  if (TilesRows(node.decision)) {
    const Impl& pattern = PatternOf(node, node.decision, 0);
    return BuildRowTiles(pattern, spec, least, available,
                         Build(pattern, WithRows(spec, node.decision.size), available), range);
  }
  if (node.decision.kind == RewriteKind::kParallelTile && node.decision.dim == kM) return false;
  if (node.decision.kind == RewriteKind::kPack && node.decision.operand == MatmulDims::kLhs &&
      node.decision.layout.order != Order::kRow)
    return false;
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
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

bool RowTemplate::BuildRegisterRange(const Impl& node, const Spec& spec, uint32_t least, Lines available,
                                     Impl* range) {
  const MainTile main = MainTileOf(node, spec);
  if (main.tile == 0) return false;
  const uint32_t most = spec.size[kM], most_left = main.most_left();
  if (most <= most_left) {
    for (uint32_t rows = least; rows <= most; ++rows) {
      const Spec few = WithRows(spec, rows);
      if (Ask(node, few, available).cost >= kInfiniteCost) return false;
      range->children.push_back({1, Build(node, few, available)});
    }
    return true;
  }
  range->decision = TileOfRows(main.tile);
  Impl tile = BuildNode(node, WithRows(spec, main.tile), node.decision, available);
  if (main.kept == 0) return BuildRowTiles(node, spec, least, available, std::move(tile), range);
  range->children.push_back({1, std::move(tile)});
  range->children.push_back({1, {}});
  return BuildRange(node, WithRows(spec, most_left), std::min(least, main.kept), available,
                    &range->children.back().impl);
}

// The rows that are left are those of any number in the range.
bool RowTemplate::BuildRowTiles(const Impl& pattern, const Spec& spec, uint32_t least, Lines available,
                                Impl whole, Impl* range) {
  const uint32_t size = whole.spec.size[kM], most = spec.size[kM];
  const bool same_trips = least / size == most / size;
  const bool same_but_last = least / size + 1 == most / size && most % size == 0;
  const uint32_t least_left = std::max(same_trips || same_but_last ? least % size : 1, 1u);
  const uint32_t most_left = same_trips ? most % size : size - 1;
  range->children.push_back({1, std::move(whole)});
  if (most_left < least_left) return true;
  range->children.push_back({1, {}});
  return BuildRange(pattern, WithRows(spec, most_left), least_left, available, &range->children.back().impl);
}

}  // namespace kirsch
