// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_index.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kirsch {
namespace {

constexpr size_t kLongestGroup = 48;  // statements

// A macro's body (indent 0) is printed without line ends, at any depth.
int64_t InnerIndent(int64_t indent) { return indent > 0 ? indent + 2 : 0; }

// Finds the groups that are longer by one statement. The places are parted by the shape of their next
// statement; a part with one place only is no repeated group.
void Extend(const StatementIndex& index, const Repeated& group, std::vector<Repeated>* longer) {
  std::map<size_t, std::vector<size_t>> by_next;  // shape
  const size_t length = group.length + 1;
  for (size_t place : group.places) {
    const size_t next = place + group.length;
    if (next < index.size() && index.node(next).block == index.node(place).block &&
        !index.IsWholeText(place, length))
      by_next[index.node(next).shape].push_back(place);
  }
  for (auto& [shape, places] : by_next)
    if (places.size() > 1) longer->push_back({length, std::move(places)});
}

}  // namespace

int64_t SizeOf(const Statement& statement, int64_t indent) {
  const auto size = static_cast<int64_t>(statement.head.Text().size()) + 1;
  if (statement.macro != kNone) return size + kCall;
  // A block's end is "}" and a line end.
  int64_t inner = statement.is_block ? indent + 2 : 0;
  for (const Statement& one : statement.body) inner += SizeOf(one, InnerIndent(indent));
  return indent + size + inner;
}

StatementIndex::StatementIndex(absl::Span<const IndexedText> texts) {
  for (const IndexedText& text : texts) AddBlock(text, kNone);
}

void StatementIndex::AddBlock(const IndexedText& text, size_t parent) {
  Statements& statements = *text.statements;
  const size_t block = blocks_.size(), first = nodes_.size();
  blocks_.push_back({&statements, parent, first});
  for (const Statement& statement : statements) {
    const size_t shape = shapes_.try_emplace(ShapeOf(statement), shapes_.size()).first->second;
    nodes_.push_back({block, shape, kirsch::SizeOf(statement, text.indent)});
  }
  // All statements of this block are numbered before those of any inner one, so that the numbers of a block
  // are consecutive.
  inner_.resize(nodes_.size(), kNone);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].body.empty()) continue;
    inner_[first + i] = blocks_.size();
    AddBlock({&statements[i].body, InnerIndent(text.indent)}, first + i);
  }
}

absl::Span<const Statement> StatementIndex::Group(size_t first, size_t length) const {
  const Block& block = BlockOf(first);
  return absl::MakeConstSpan(*block.statements).subspan(first - block.first, length);
}

bool StatementIndex::IsWholeText(size_t first, size_t length) const {
  const Block& block = BlockOf(first);
  return block.parent == kNone && first == block.first && length == block.statements->size();
}

int64_t StatementIndex::SizeOf(size_t first, size_t length) const {
  int64_t size = 0;
  for (size_t i = first; i < first + length; ++i) size += nodes_[i].size;
  return size;
}

bool StatementIndex::IsFree(size_t first, size_t length) const {
  return std::none_of(nodes_.begin() + static_cast<std::ptrdiff_t>(first),
                      nodes_.begin() + static_cast<std::ptrdiff_t>(first + length),
                      [](const Node& node) { return node.taken; });
}

void StatementIndex::Take(size_t first, size_t length) {
  for (size_t i = first; i < first + length; ++i) {
    nodes_[i].taken = true;
    TakeInner(i);
  }
  // A statement around a call cannot become part of another group any more, as that group's text is not there
  // then.
  for (size_t parent = BlockOf(first).parent; parent != kNone; parent = BlockOf(parent).parent)
    nodes_[parent].taken = true;
}

void StatementIndex::TakeInner(size_t number) {
  if (inner_[number] == kNone) return;
  const Block& block = blocks_[inner_[number]];
  for (size_t i = block.first; i < block.first + block.statements->size(); ++i) {
    nodes_[i].taken = true;
    TakeInner(i);
  }
}

// A longer group occurs only where its beginning does. So groups of one statement are extended by one
// statement at a time, as long as several places are left.
std::vector<Repeated> RepeatedGroups(const StatementIndex& index) {
  Repeated all{0, std::vector<size_t>(index.size())};
  std::iota(all.places.begin(), all.places.end(), size_t{0});
  std::vector<Repeated> groups, level = {std::move(all)};
  while (!level.empty() && level.front().length < kLongestGroup) {
    std::vector<Repeated> longer;
    for (const Repeated& group : level) Extend(index, group, &longer);
    groups.insert(groups.end(), longer.begin(), longer.end());
    level = std::move(longer);
  }
  return groups;
}

}  // namespace kirsch
