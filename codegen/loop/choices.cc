// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop/choices.h"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/loop/loop_text.h"
#include "codegen/loop/nested.h"
#include "codegen/loop/outline.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Block = std::vector<Stmt>;

template <typename... Ops>
bool IsAnyOf(const Stmt& stmt) {
  return (std::holds_alternative<Ops>(stmt.op) || ...);
}

// True if the block has only calls and what chooses them. Statements that only an entry may have, such as
// OnThread, cannot move to another procedure.
bool IsOfCalls(const Block& block) {
  return std::ranges::all_of(block, [](const Stmt& stmt) {
    bool nested = true;
    ForNested(stmt, [&](const Block& inner) { nested &= IsOfCalls(inner); });
    return nested && IsAnyOf<Call, Divide, For, IfAny, Switch, TileConfigure>(stmt);
  });
}

// Calls visit(number) for all numbers that the statement and those inside of it read.
template <typename Visit>
void ForNumbers(const Stmt& stmt, const Visit& visit) {
  std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (std::same_as<Op, Divide>) visit(op.of);
        if constexpr (std::same_as<Op, For>) visit(op.count);
        if constexpr (std::same_as<Op, OnThread>) visit(op.task);
        if constexpr (std::same_as<Op, IfAny> || std::same_as<Op, Switch>) visit(IndexOf(op.index));
        if constexpr (std::same_as<Op, Call>) {
          for (const Address& pointer : op.pointers) visit(pointer.offset);
          for (const Affine& count : op.counts) visit(count);
        }
      },
      stmt.op);
  ForNested(stmt, [&](const Block& block) {
    for (const Stmt& inner : block) ForNumbers(inner, visit);
  });
}

// True if the statement needs the value of the index, as a term or as the factor of one.
bool Reads(const Stmt& stmt, VarId index) {
  bool reads = false;
  ForNumbers(stmt, [&](const Affine& number) {
    for (const Affine::Term& term : number.terms) reads |= term.index == index || term.times == index;
  });
  return reads;
}

// Returns the end of the group of statements that begins at `begin`. It is behind the last statement that
// reads an index which the group sets: such statements cannot be in different procedures.
size_t EndOfGroup(const Block& block, size_t begin) {
  size_t end = begin + 1;
  for (size_t i = begin; i < end; ++i) {
    const auto* const set = std::get_if<Divide>(&block[i].op);
    for (size_t j = end; j < block.size() && set != nullptr; ++j)
      if (Reads(block[j], set->index)) end = j + 1;
  }
  return end;
}

// True if a group is worth a procedure. It is if it has a Switch, or whole tiles and what is left of them. It
// is not if it is a single call whose counts are worked out, or a loop whose body is shared already.
bool Chooses(const Block& group) {
  return std::ranges::any_of(group, [&](const Stmt& stmt) {
    return IsAnyOf<Switch>(stmt) || (group.size() > 1 && IsAnyOf<For, IfAny>(stmt));
  });
}

// Replaces groups of statements by calls, and collects their procedures.
class ChoiceSharing {
 public:
  explicit ChoiceSharing(LoopProgram& program) : program_(program) {}

  // Works from the inside out: what is around a choice then has only a call of it, and is equal to others
  // more often. New procedures come behind those that they call.
  void Share(Block& block) {
    for (Stmt& stmt : block) ForNested(stmt, [this](Block& inner) { Share(inner); });
    // Cut this block into groups, and replace those that choose.
    Block shared;
    for (size_t begin = 0, end = 0; begin < block.size(); begin = end) {
      end = EndOfGroup(block, begin);
      const auto at = [&](size_t i) { return std::make_move_iterator(block.begin() + static_cast<int>(i)); };
      Block group(at(begin), at(end));
      if (IsOfCalls(group) && Chooses(group)) group = {Stmt{MakeCall(MakeOutline(program_, group))}};
      std::move(group.begin(), group.end(), std::back_inserter(shared));
    }
    block = std::move(shared);
  }

 private:
  // A procedure is named by the hash of its text, so that equal ones have one name in all programs. If the
  // program has one of that name, it is called instead.
  Call MakeCall(Outlined outlined) {
    Procedure& procedure = outlined.procedure;
    procedure.name = HashedName("tiles", ProcedureText(program_, procedure));
    const auto [it, inserted] =
        numbers_.try_emplace(procedure.name, static_cast<int>(program_.procedures.size()));
    if (inserted) program_.procedures.push_back(std::move(procedure));
    outlined.call.procedure = it->second;
    return std::move(outlined.call);
  }

  LoopProgram& program_;
  std::map<std::string, int> numbers_;
};

}  // namespace

void ShareChoices(LoopProgram* program) {
  // The body is taken out, as MakeCall adds to `procedures` meanwhile.
  Block body = std::move(program->procedures[0].body);  // as procedures are added meanwhile
  ChoiceSharing(*program).Share(body);
  program->procedures[0].body = std::move(body);
}

}  // namespace kirsch
