// SPDX-License-Identifier: Apache-2.0
// Writes a procedure of a loop program, statement by statement. Loops and conditions take a function that
// writes their body, so the nesting of the C++ code is that of the procedure:
//   builder.Loop(Constant(4), [&](VarId i) {
//     builder.Do(Load{v, {from, Plus(Constant(0), i, 8)}, 8});
//     builder.Do(Store{v, {to, Plus(Constant(0), i, 8)}, 8});
//   });
#ifndef KIRSCH_CODEGEN_LOOP_PROCEDURE_BUILDER_H_
#define KIRSCH_CODEGEN_LOOP_PROCEDURE_BUILDER_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/loop/loop_program.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {

// One per procedure; Build() ends it. Variables keep their numbers from the moment they are declared.
class ProcedureBuilder {
 public:
  explicit ProcedureBuilder(std::string name) {
    procedure_.name = std::move(name);
    blocks_.push_back(&procedure_.body);
  }
  ProcedureBuilder(const ProcedureBuilder&) = delete;  // blocks_ points into procedure_
  ProcedureBuilder& operator=(const ProcedureBuilder&) = delete;

  // Parameters have to be declared before anything else, pointers before indices.
  VarId PointerParameter(const std::string& name, Dtype dtype, bool stored, bool may_alias = false) {
    ++procedure_.num_parameters;
    return AddVar({name, VarType::kPointer, dtype, 0, stored, may_alias});
  }
  VarId IndexParameter(const std::string& name) {
    ++procedure_.num_parameters;
    return Index(name);
  }
  // Declares a variable that is no parameter. Its name gets a suffix where it is taken.
  VarId Index(const std::string& name) { return AddVar({name, VarType::kIndex, Dtype::kF32, 0, false}); }
  VarId Vector(const std::string& name, Dtype dtype, int lanes) {
    return AddVar({name, VarType::kVector, dtype, lanes, false});
  }
  // An array on the stack, of the procedure's own: whole vectors of `lanes`, to which it is aligned.
  VarId Array(const std::string& name, Dtype dtype, int lanes, int64_t elements) {
    KIRSCH_CHECK(elements % lanes == 0);
    return AddVar({name, VarType::kPointer, dtype, lanes, true, false, elements});
  }
  // Returns a vector filled with `word`, as Fill does it. Equal vectors are one variable, filled
  // at the procedure's beginning, so that no loop fills it again.
  VarId Filled(Dtype dtype, int lanes, uint64_t word) {
    for (const Fill& fill : fills_)
      if (fill.word == word && var(fill.to).dtype == dtype && var(fill.to).lanes == lanes) return fill.to;
    const char* type = dtype == Dtype::kF32 ? "f" : dtype == Dtype::kF64 ? "d" : "i";
    fills_.push_back({Vector(Cat(type, lanes, "_", absl::Hex(word)), dtype, lanes), word});
    return fills_.back().to;
  }
  const Var& var(VarId id) const { return procedure_.vars[static_cast<size_t>(id)]; }

  // Appends a statement to the innermost block that is being written.
  template <typename Op>
  void Do(Op op) {
    blocks_.back()->push_back(Stmt{std::move(op)});
  }

  // Runs `body()`, whose statements become the loop's; a constant trip count of 0 leaves the loop out.
  template <typename Body>
  void Loop(Affine count, Body body) {
    if (count.terms.empty() && count.constant == 0) return;
    const VarId index = Index(Cat("i", procedure_.vars.size()));
    Nest(For{index, std::move(count), {}}, [&] { body(index); });
  }
  // Returns a new index that is of / by, or, if `left`, what is left of that; `min_tail` as in Divide.
  VarId Quotient(Affine of, int64_t by, bool left, int64_t min_tail = 0) {
    const VarId index = Index(Cat(left ? "left" : "whole", procedure_.vars.size()));
    Do(Divide{index, std::move(of), by, left, min_tail});
    return index;
  }
  // Runs `body()` for what is done if the index is not 0.
  template <typename Body>
  void WithAny(VarId index, Body body) {
    Nest(IfAny{index, {}}, body);
  }
  // `body(i)` writes what is done for index = least + i.
  template <typename Body>
  void SwitchOn(VarId index, int64_t least, size_t count, Body body) {
    Switch chosen{index, least, {}};
    for (size_t i = 0; i < count; ++i) chosen.bodies.push_back(Gather([&] { body(i); }));
    Do(std::move(chosen));
  }
  // For entries only, like the next two: `body()` writes what the task's thread does.
  template <typename Body>
  void OnThreadOf(Affine task, Body body) {
    Nest(OnThread{std::move(task), {}}, body);
  }
  // body(number) writes what is done for each block that is wanted.
  template <typename Body>
  void WantedBlocks(int64_t count, Body body) {
    const VarId number = Index(Cat("block", procedure_.vars.size()));
    Nest(ForBlocks{number, count, {}}, [&] { body(number); });
  }
  template <typename Body>
  void InPhaseOf(int phase, Body body) {
    Nest(InPhase{phase, {}}, body);
  }

  // Puts the constants of Filled() before all else, and hands over the procedure.
  Procedure Build() && {
    procedure_.body.insert(procedure_.body.begin(), fills_.size(), Stmt{});
    for (size_t i = 0; i < fills_.size(); ++i) procedure_.body[i].op = fills_[i];
    return std::move(procedure_);
  }

 private:
  // Gives each variable a name of its own. A C function declares all of them side by side, and code that asks
  // for variables doesn't know the names that other code took.
  VarId AddVar(Var var) {
    while (!names_.insert(var.name).second) var.name += "_";
    procedure_.vars.push_back(std::move(var));
    return static_cast<VarId>(procedure_.vars.size()) - 1;
  }
  // Runs `body()` and returns the statements that it wrote. They are gathered outside the tree, so that no
  // pointer into a growing vector is held.
  template <typename Body>
  std::vector<Stmt> Gather(Body body) {
    std::vector<Stmt> inner;
    blocks_.push_back(&inner);
    body();
    blocks_.pop_back();
    return inner;
  }
  template <typename Op, typename Body>
  void Nest(Op op, Body body) {
    op.body = Gather(body);
    Do(std::move(op));
  }

  Procedure procedure_;
  std::set<std::string> names_;  // of its variables
  std::vector<Fill> fills_;
  std::vector<std::vector<Stmt>*> blocks_;  // innermost last
};

// Returns the place `offset` elements behind the pointer.
inline Address At(VarId pointer, int64_t offset = 0) { return {pointer, Constant(offset)}; }

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_PROCEDURE_BUILDER_H_
