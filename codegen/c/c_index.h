// SPDX-License-Identifier: Apache-2.0
// The statements of several texts, numbered, and which groups of them occur more than once.
#ifndef KIRSCH_CODEGEN_C_C_INDEX_H_
#define KIRSCH_CODEGEN_C_C_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_statements.h"

namespace kirsch {

inline constexpr int64_t kCall = 11;  // bytes of a macro's call besides its arguments

// As it is printed, by lines that are indented, or (indent 0) behind each other.
int64_t SizeOf(const Statement& statement, int64_t indent);

struct IndexedText {
  Statements* statements;
  int64_t indent;
};

// Those of a block have numbers one after the other, larger than that of the statement whose block it is.
// The texts must not change meanwhile.
class StatementIndex {
 public:
  explicit StatementIndex(absl::Span<const IndexedText> texts);

  struct Node {
    size_t block;
    size_t shape;  // equal for statements that differ in numbers only
    int64_t size;
    bool taken = false;  // it, what it is in, or something in it
  };
  struct Block {
    Statements* statements;
    size_t parent;  // the statement whose block it is
    size_t first;   // its own first one
  };

  size_t size() const { return nodes_.size(); }
  const Node& node(size_t number) const { return nodes_[number]; }
  const Block& BlockOf(size_t number) const { return blocks_[nodes_[number].block]; }

  // Of groups, which are statements of one block, one after the other.
  absl::Span<const Statement> Group(size_t first, size_t length) const;
  bool IsWholeText(size_t first, size_t length) const;
  int64_t SizeOf(size_t first, size_t length) const;
  bool IsFree(size_t first, size_t length) const;
  void Take(size_t first, size_t length);

 private:
  void AddBlock(const IndexedText& text, size_t parent);
  void TakeInner(size_t number);

  std::vector<Node> nodes_;
  std::vector<Block> blocks_;
  std::vector<size_t> inner_;  // by node: its own block
  std::map<std::string, size_t> shapes_;
};

// Where groups of one shape are.
struct Repeated {
  size_t length = 0;
  std::vector<size_t> places;  // ascending; they may overlap
};

// All there are, but for those that are a whole text: a macro that is but a call of another one would be
// none.
std::vector<Repeated> RepeatedGroups(const StatementIndex& index);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_INDEX_H_
