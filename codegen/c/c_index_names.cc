// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_index_names.h"

#include <concepts>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "codegen/loop/nested.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

class IndexNames {
 public:
  explicit IndexNames(Procedure& procedure) : vars_(procedure.vars) {
    for (size_t i = 0; i < vars_.size(); ++i)
      if (i < static_cast<size_t>(procedure.num_parameters) || StemOf(vars_[i]).empty())
        taken_.insert(vars_[i].name);
  }

  // `number`: of the last index in scope. The index of a loop is in scope in its body only.
  void Rename(const std::vector<Stmt>& block, int number) {
    for (const Stmt& stmt : block) {
      int inner = number;
      std::visit(
          [&](const auto& op) {
            using Op = std::decay_t<decltype(op)>;
            if constexpr (std::same_as<Op, For> || std::same_as<Op, ForBlocks>) SetName(op.index, &inner);
            if constexpr (std::same_as<Op, Divide> || std::same_as<Op, LoadIndex> || std::same_as<Op, ToLine>)
              SetName(op.index, &number);
          },
          stmt.op);
      ForNested(stmt, [&](const std::vector<Stmt>& body) { Rename(body, inner); });
    }
  }

 private:
  // Returns the letters before an index's number; "": it has none.
  static std::string StemOf(const Var& var) {
    const size_t end = var.name.find_last_not_of("0123456789") + 1;
    return var.type == VarType::kIndex && end < var.name.size() ? var.name.substr(0, end) : "";
  }

  void SetName(VarId index, int* number) {
    Var& var = vars_[static_cast<size_t>(index)];
    const std::string stem = StemOf(var);
    if (stem.empty()) return;
    do var.name = Cat(stem, ++*number);
    while (taken_.contains(var.name));
  }

  std::vector<Var>& vars_;
  std::set<std::string> taken_;  // names of parameters and of what has no number
};

}  // namespace

Procedure WithScopedNames(Procedure procedure) {
  IndexNames(procedure).Rename(procedure.body, 0);
  return procedure;
}

}  // namespace kirsch
