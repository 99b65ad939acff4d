// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop/outline.h"

#include <algorithm>
#include <concepts>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "codegen/loop/nested.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/check.h"

namespace kirsch {
namespace {

using Block = std::vector<Stmt>;

// Goes over the statements twice: first to find the parameters, which a procedure declares before anything
// else, then to write the statements with the procedure's own variables.
class Outline {
 public:
  Outline(const LoopProgram& program, const Block& block) : program_(program) {
    // First pass: find operands, outside indices, and what calls say of adding. Then declare all parameters.
    Collect(block);
    for (Pointer& pointer : pointers_)
      pointer.parameter = builder_.PointerParameter(pointer.operand.name, pointer.operand.dtype,
                                                    pointer.stored, /*may_alias=*/true);
    for (VarId index : outer_) indices_[index] = builder_.IndexParameter("size");
    if (said_.size() == 1) adds_ = builder_.IndexParameter(kAddsParameter);
    Write(block);
  }

  Procedure Build() && { return std::move(builder_).Build(); }
  // Returns the call that does what the statements did, in the same order of parameters as declared above.
  Call InPlace() const {
    Call call{0, {}, {}};
    for (const Pointer& pointer : pointers_) call.pointers.push_back({pointer.of, pointer.base});
    for (VarId index : outer_) call.counts.push_back(IndexOf(index));
    if (said_.size() == 1) call.counts.push_back(Constant(*said_.begin()));
    return call;
  }

 private:
  // An operand's place as the procedure gets it. Addresses of an operand that differ only by constants, or by
  // indices that the block itself sets, share a Pointer.
  struct Pointer {
    VarId of = kNoVar;
    Affine base;
    Var operand;  // of the first procedure that is called with it
    bool stored = false;
    VarId parameter = kNoVar;
  };

  // Finds what the statements take from outside. Statements come in the order in which they run, so an index
  // that the block sets is known before anything reads it.
  void Collect(const Block& block) {
    for (const Stmt& stmt : block) {
      std::visit([this](const auto& op) { CollectFrom(op); }, stmt.op);
      ForNested(stmt, [this](const Block& inner) { Collect(inner); });
    }
  }
  template <typename Op>
  void CollectFrom(const Op& op) {
    if constexpr (std::same_as<Op, Divide>) CollectFrom(op.of);
    if constexpr (std::same_as<Op, For>) CollectFrom(op.count);
    if constexpr (std::same_as<Op, IfAny> || std::same_as<Op, Switch>) CollectFrom(IndexOf(op.index));
    if constexpr (std::same_as<Op, For> || std::same_as<Op, Divide>) own_.insert(op.index);
  }
  void CollectFrom(const Affine& number) {
    for (const Affine::Term& term : number.terms) {
      Take(term.index);
      if (term.times != kNoVar) Take(term.times);
    }
  }
  // An index that the block does not set itself becomes a parameter, once.
  void Take(VarId index) {
    if (!own_.contains(index) && std::ranges::find(outer_, index) == outer_.end()) outer_.push_back(index);
  }
  void CollectFrom(const Call& call) {
    const Procedure& callee = program_.procedures[static_cast<size_t>(call.procedure)];
    for (size_t i = 0; i < call.pointers.size(); ++i) {
      Pointer& pointer = PointerTo(call.pointers[i], callee.vars[i]);
      pointer.stored |= callee.vars[i].stored;
      CollectFrom(Terms(call.pointers[i].offset, /*own=*/true));
    }
    for (size_t i = 0; i < call.counts.size(); ++i) {
      CollectFrom(call.counts[i]);
      if (SaysAdds(callee, call, i)) said_.insert(call.counts[i].constant);
    }
  }
  // True if the count is a constant that says whether the callee adds to the output.
  static bool SaysAdds(const Procedure& callee, const Call& call, size_t count) {
    return call.counts[count].IsConstant() &&
           callee.vars[call.pointers.size() + count].name == kAddsParameter;
  }

  // Returns the terms of an offset that the block's own indices make, or the other ones; no constant.
  Affine Terms(const Affine& offset, bool own) const {
    Affine terms;
    for (const Affine::Term& term : offset.terms)
      if (own_.contains(term.index) == own) terms.terms.push_back(term);
    return terms;
  }

  // Returns the Pointer that the address begins from, a new one if there is none. In the second pass all
  // exist.
  Pointer& PointerTo(const Address& address, const Var& operand) {
    const Affine terms = Terms(address.offset, /*own=*/false);
    for (Pointer& pointer : pointers_)
      if (pointer.of == address.pointer && pointer.operand.dtype == operand.dtype &&
          pointer.operand.name == operand.name && pointer.base.terms == terms.terms)
        return pointer;
    pointers_.push_back({address.pointer, Plus(terms, address.offset.constant), operand});
    return pointers_.back();
  }

  // Writes the statements, with each index of the entry replaced by the procedure's.
  void Write(const Block& block) {
    for (const Stmt& stmt : block) std::visit([this](const auto& op) { WriteOp(op); }, stmt.op);
  }
  template <typename Op>
  void WriteOp(const Op&) {
    KIRSCH_BUG("a statement that is for entries only");
  }
  void WriteOp(const Divide& op) {
    indices_[op.index] = builder_.Quotient(Own(op.of), op.by, op.left, op.min_tail);
  }
  void WriteOp(const For& op) {
    builder_.Loop(Own(op.count), [&](VarId index) {
      indices_[op.index] = index;
      Write(op.body);
    });
  }
  void WriteOp(const IfAny& op) {
    builder_.WithAny(indices_.at(op.index), [&] { Write(op.body); });
  }
  void WriteOp(const Switch& op) {
    builder_.SwitchOn(indices_.at(op.index), op.least, op.bodies.size(),
                      [&](size_t i) { Write(op.bodies[i]); });
  }
  void WriteOp(const TileConfigure& op) { builder_.Do(op); }
  // An argument is the pointer's parameter plus what the block's own indices add. The parameter has the
  // constant of the Pointer's first address, so the difference to this one is added, too.
  void WriteOp(const Call& op) {
    const Procedure& callee = program_.procedures[static_cast<size_t>(op.procedure)];
    Call call{op.procedure, {}, {}};
    for (size_t i = 0; i < op.counts.size(); ++i)
      call.counts.push_back(adds_ != kNoVar && SaysAdds(callee, op, i) ? IndexOf(adds_) : Own(op.counts[i]));
    for (size_t i = 0; i < op.pointers.size(); ++i) {
      const Pointer& pointer = PointerTo(op.pointers[i], callee.vars[i]);
      const Affine own = Own(Terms(op.pointers[i].offset, /*own=*/true));
      call.pointers.push_back(
          {pointer.parameter, Plus(own, op.pointers[i].offset.constant - pointer.base.constant)});
    }
    builder_.Do(std::move(call));
  }

  // Returns the same number by the procedure's own indices.
  Affine Own(Affine affine) const {
    for (Affine::Term& term : affine.terms) {
      term.index = indices_.at(term.index);
      if (term.times != kNoVar) term.times = indices_.at(term.times);
    }
    return affine;
  }

  const LoopProgram& program_;
  ProcedureBuilder builder_{""};
  std::set<VarId> own_;       // indices that the block itself sets
  std::vector<VarId> outer_;  // those that it takes
  std::vector<Pointer> pointers_;
  std::set<int64_t> said_;          // what calls say of whether they add to the output
  VarId adds_ = kNoVar;             // a parameter, if they all say the same
  std::map<VarId, VarId> indices_;  // of the entry's: the procedure's
};

}  // namespace

Outlined MakeOutline(const LoopProgram& program, const Block& block) {
  // The call is made first, as Build() takes the outline apart.
  Outline outline(program, block);
  Call call = outline.InPlace();
  return {std::move(outline).Build(), std::move(call)};
}

}  // namespace kirsch
