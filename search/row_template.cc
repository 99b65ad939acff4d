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

// What decides for the spec: tiles of rows that are not smaller than it disappear.
const Impl& Deciding(const Impl& pattern, const Spec& spec) {
  const Impl* node = &pattern;
  while (TilesRows(node->decision) && node->decision.size >= spec.size[kM])
    node = &node->children.front().impl;
  return *node;
}

// The pattern for a child: that of rows that are left is that of the whole tile.
const Impl& PatternOf(const Impl& node, size_t child) {
  return node.children[TilesRows(node.decision) ? 0 : child].impl;
}

// Tiles of other dims are what they were for the program that decisions are from. The lattice of rows is for
// the search: any other height is a program as well.
bool IsLegalHere(const Impl& node, const Spec& spec, const Expansion& expansion, const Target& target) {
  if (TilesRows(node.decision)) return true;
  if (static_cast<size_t>(expansion.num_children) != node.children.size()) return false;
  return node.decision.kind == RewriteKind::kTile || IsLegal(spec, node.decision, target);
}

}  // namespace

RowTemplate::RowTemplate(Impl program, const CostModel& model)
    : program_(std::move(program)), model_(model) {}

size_t RowTemplate::HashQuestion::operator()(const Question& question) const {
  return HashOf(question.spec) ^ (reinterpret_cast<uintptr_t>(question.pattern) * 31 + question.available);
}

Cost RowTemplate::Price(const Spec& placed_root) {
  return Price(program_, placed_root, AvailableAtHome(placed_root, model_.target()));
}

Cost RowTemplate::Price(const Impl& pattern, const Spec& spec, Lines available) {
  const Impl& node = Deciding(pattern, spec);
  const Question question{&node, spec, available};
  if (const auto known = known_.find(question); known != known_.end()) return known->second;
  const Cost cost = PriceAnew(node, spec, available);
  known_.emplace(question, cost);
  return cost;
}

Cost RowTemplate::PriceAnew(const Impl& node, const Spec& spec, Lines available) {
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  if (!IsLegalHere(node, spec, expansion, model_.target())) return kInfiniteCost;
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  if (below < 0) return kInfiniteCost;
  Cost cost = model_.Base(spec, node.decision, expansion);
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Cost child = Price(PatternOf(node, i), expansion.children[i].spec, below);
    if (child >= kInfiniteCost) return kInfiniteCost;
    cost += expansion.children[i].weight * child;
  }
  return cost;
}

Impl RowTemplate::Build(const Impl& pattern, const Spec& spec) const {
  const Impl& node = Deciding(pattern, spec);
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  Impl program{spec, node.decision, {}};
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Expansion::Child& child = expansion.children[i];
    program.children.push_back({child.trips, Build(PatternOf(node, i), child.spec)});
  }
  return program;
}

std::optional<Impl> RowTemplate::ApplyToRange(const Spec& placed_root, uint32_t least) const {
  Impl range;
  if (!BuildRange(program_, placed_root, least, &range)) return std::nullopt;
  return range;
}

bool RowTemplate::BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Impl* range) const {
  if (least == spec.size[kM]) {
    *range = Build(pattern, spec);
    return true;
  }
  const Impl& node = Deciding(pattern, spec);
  *range = Impl{spec, node.decision, {}, least};
  if (TilesRows(node.decision)) return BuildRowTiles(node, spec, least, range);
  if (node.decision.kind == RewriteKind::kMove && node.decision.level == Level::kVrf) {
    Spec tile = spec;
    for (tile.size[kM] = least; tile.size[kM] <= spec.size[kM]; ++tile.size[kM])
      range->children.push_back({1, Build(node, tile)});
    return true;
  }
  if (node.decision.kind == RewriteKind::kParallelTile && node.decision.dim == kM) return false;
  if (node.decision.kind == RewriteKind::kPack && node.decision.operand == MatmulDims::kLhs &&
      node.decision.layout.order != Order::kRow)
    return false;
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  range->children.resize(static_cast<size_t>(expansion.num_children));
  for (size_t i = 0; i < range->children.size(); ++i) {
    const Expansion::Child& child = expansion.children[i];
    range->children[i].trips = child.trips;
    if (!BuildRange(PatternOf(node, i), child.spec, least, &range->children[i].impl)) return false;
  }
  return true;
}

// The rows that are left are those of any number in the range.
bool RowTemplate::BuildRowTiles(const Impl& node, const Spec& spec, uint32_t least, Impl* range) const {
  const uint32_t size = node.decision.size, most = spec.size[kM];
  Expansion expansion;
  Expand(spec, node.decision, model_.target(), &expansion);
  const Impl& pattern = PatternOf(node, 0);
  Spec tile = expansion.children[0].spec;
  range->children.push_back({1, Build(pattern, tile)});
  const bool same_trips = least / size == most / size;
  const uint32_t least_left = std::max(same_trips ? least % size : 1, 1u);
  tile.size[kM] = same_trips ? most % size : size - 1;
  if (tile.size[kM] < least_left) return true;
  range->children.push_back({1, {}});
  return BuildRange(pattern, tile, least_left, &range->children.back().impl);
}

}  // namespace kirsch
