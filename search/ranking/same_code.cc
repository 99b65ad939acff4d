// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/same_code.h"

#include <utility>

#include "spec/microkernel.h"

namespace kirsch {
namespace {

using Key = CodeFragment::Key;

// Mixes a word into a key: multiply and fold, with two multipliers. Not absl's hash, which differs from
// process to process.
void Add(uint64_t word, Key* key) {
  constexpr std::array<uint64_t, 2> kFactors = {0xda942042e4dd58b5, 0x9fb21c651e98df25};
  for (size_t i = 0; i < 2; ++i) {
    const __uint128_t product = static_cast<__uint128_t>((*key)[i] ^ word ^ kFactors[1 - i]) * kFactors[i];
    (*key)[i] = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    (*key)[i] += kFactors[i];
  }
}

void Add(const Key& other, Key* key) {
  for (const uint64_t word : other) Add(word, key);
}

// Mixes in a spec without what its code does not depend on: where operands are placed, and who else is at
// work.
void AddSpec(const Spec& spec, Key* key) {
  Spec plain = spec;
  plain.active_threads = 1;
  for (TensorSpec& tensor : plain.operand) {
    tensor.level = Level::kRam;
    tensor.resident = 0;
  }
  for (const uint64_t word : plain.words()) Add(word, key);
}

// 0: the microkernel does not prefetch the next tile; 1: into L1; 2: into L2. These are different
// instructions.
uint64_t WhereItPrefetches(const Spec& microkernel) {
  if (!PrefetchesNextTile(microkernel)) return 0;
  return microkernel.operand[MatmulDims::kRhs].level == Level::kL1 ? 2 : 1;
}

// Mixes in all fields of a decision but the level.
void AddDecision(const Decision& decision, Key* key) {
  Add(uint64_t{static_cast<uint8_t>(decision.kind)} << 16 | uint64_t{decision.dim} << 8 | decision.operand,
      key);
  Add(uint64_t{decision.size} << 32 | decision.parts, key);
  const Layout& layout = decision.layout;
  Add(uint64_t{static_cast<uint8_t>(layout.kind)} << 32 | uint64_t{static_cast<uint8_t>(layout.order)} << 24 |
          uint64_t{layout.panel} << 16 | uint64_t{layout.group} << 8 | static_cast<uint8_t>(decision.dtype),
      key);
  Add(layout.ld, key);
}

// True if a tile may be told by its items. Loops over windows follow the windows' digits, and tasks are
// numbered: there a tile is what was decided.
bool IsPlainTile(const Spec& spec, const Decision& decision) {
  return decision.kind == RewriteKind::kTile && spec.op_info().window.empty() && spec.block == 0 &&
         spec.threads == 1;
}

}  // namespace

Key CodeFragment::key() const {
  // A single item at the origin is the whole code, so its key will do.
  if (items_.size() == 1 && items_[0].place == decltype(Item::place){}) return items_[0].what;
  Key key = {};
  for (const Item& item : items_) {
    for (const uint32_t at : item.place) Add(at, &key);
    Add(item.what, &key);
  }
  return key;
}

// The items of the children, shifted to their places. A child that runs several times is one item, its loop;
// one that runs once has no loop, so its own items take its place.
CodeFragment CodeFragment::OfTiles(const Decision& decision, const Expansion& expansion,
                                   absl::Span<const CodeFragment* const> children) {
  std::vector<Item> items;
  uint32_t position = 0;
  for (size_t i = 0; i < children.size(); ++i) {
    const Expansion::Child& child = expansion.children[i];
    const uint32_t size = child.spec.size[decision.dim];
    std::vector<Item> parts = children[i]->items_;
    if (child.trips > 1) {
      Key loop = {};
      Add(uint64_t{decision.dim} << 32 | size, &loop);
      Add(static_cast<uint64_t>(child.trips), &loop);
      Add(children[i]->key(), &loop);
      parts = Single(loop).items_;
    }
    for (Item& part : parts) {
      part.place[decision.dim] += position;
      items.push_back(part);
    }
    position += static_cast<uint32_t>(child.trips) * size;
  }
  return CodeFragment(std::move(items));
}

CodeFragment CodeFragment::Of(const Spec& spec, const Decision& decision, const Expansion& expansion,
                              absl::Span<const CodeFragment* const> children) {
  const bool into_registers = decision.level == Level::kVrf;
  // A move within memory is no code.
  if (decision.kind == RewriteKind::kMove && !into_registers) return *children[0];
  if (IsPlainTile(spec, decision)) return OfTiles(decision, expansion, children);
  Key key = {};
  AddDecision(decision, &key);
  AddSpec(spec, &key);
  if (decision.kind == RewriteKind::kMove) Add(spec.out().level > Level::kL1 ? 1 : 0, &key);
  if (decision.kind == RewriteKind::kMicrokernel) Add(WhereItPrefetches(spec), &key);
  for (const CodeFragment* child : children) Add(child->key(), &key);
  return Single(key);
}

}  // namespace kirsch
