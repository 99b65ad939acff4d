// SPDX-License-Identifier: Apache-2.0
// Numbers the statements of several texts, and finds which groups of them occur more than once. Groups are
// then compared and taken by number, without text.
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

inline constexpr int64_t kCall = 6;  // bytes of a macro's call besides its arguments

// Returns the bytes of the statement as it is printed: by lines that are indented, or (indent 0) behind each
// other.
int64_t SizeOf(const Statement& statement, int64_t indent);

// A text to search. `indent`: of its lines when they are printed; 0: it is the body of a macro.
struct IndexedText {
  Statements* statements;
  int64_t indent;
};

// Numbers all statements of the texts. Those of a block have numbers one after the other, larger than that of
// the statement whose block it is. So a group is a first number and a length. The texts must not change
// meanwhile.
class StatementIndex {
 public:
  explicit StatementIndex(absl::Span<const IndexedText> texts);

  // One statement.
  struct Node {
    size_t block;
    size_t shape;  // equal for statements that differ in numbers only
    int64_t size;
    bool taken = false;  // it, a statement that it is in, or one in it is part of a call already
  };
  // A sequence of statements: a whole text, or the body of a statement.
  struct Block {
    Statements* statements;
    size_t parent;  // the statement whose block it is; kNone: a whole text
    size_t first;   // its own first one
  };

  size_t size() const { return nodes_.size(); }
  const Node& node(size_t number) const { return nodes_[number]; }
  const Block& BlockOf(size_t number) const { return blocks_[nodes_[number].block]; }

  // These ask about groups: `length` statements of one block, from number `first` on.
  absl::Span<const Statement> Group(size_t first, size_t length) const;
  bool IsWholeText(size_t first, size_t length) const;
  int64_t SizeOf(size_t first, size_t length) const;
  // True if none of its statements is taken. Take marks them, all that is in them, and all that they are in:
  // calls never overlap.
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

// All places of groups of one shape, by the number of their first statement.
struct Repeated {
  size_t length = 0;
  std::vector<size_t> places;  // ascending; they may overlap
};

// Returns all groups that occur more than once, but for whole texts: a macro that is but a call of another
// one would be useless.
std::vector<Repeated> RepeatedGroups(const StatementIndex& index);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_INDEX_H_
