// SPDX-License-Identifier: Apache-2.0
// Groups of statements that occur several times, but for their numbers, as macros.
#ifndef KIRSCH_CODEGEN_C_C_GROUPS_H_
#define KIRSCH_CODEGEN_C_C_GROUPS_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_parameters.h"
#include "codegen/c/c_statements.h"

namespace kirsch {

inline constexpr size_t kMostParameters = 100;  // of a macro; C has 127

struct Macro {
  Statements body;  // has parameters in its holes
  size_t parameters = 0;
  std::string before = {};  // of a function's macro, which takes its name: what the function begins with
};

// The call that stands for what has these numbers.
Pattern MacroCall(const Parameters& parameters, const std::vector<Hole>& holes);

// Replaces groups in the texts, and in the macros that there are, by calls of new macros, as long as that
// makes the text shorter: the group that saves most first, wherever it occurs. (What is longest is not found
// by way of what is frequent: a step of a register tile is one macro with few parameters, not several of one
// line each.) Deterministic.
void MakeGroups(const std::vector<Statements*>& texts, std::deque<Macro>* macros);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_GROUPS_H_
