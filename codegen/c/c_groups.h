// SPDX-License-Identifier: Apache-2.0
// Makes macros of groups of statements that occur several times, but for their numbers. Each occurrence
// becomes a call, such as "KIR4(300,16)".
#ifndef KIRSCH_CODEGEN_C_C_GROUPS_H_
#define KIRSCH_CODEGEN_C_C_GROUPS_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "codegen/c/c_parameters.h"
#include "codegen/c/c_statements.h"

namespace kirsch {

inline constexpr size_t kMostParameters = 100;  // of a macro; C has 127

// A macro to be defined. c_macros.h gives it a name when it is first needed.
struct Macro {
  Statements body;  // has parameters in its holes
  size_t parameters = 0;
};

// Returns the arguments of the call that stands for the text with these numbers: "(300,16)", or nothing if
// there are no parameters.
Pattern MacroCall(const Parameters& parameters, const std::vector<Hole>& holes);

// Replaces groups in the texts, and in the macros that there are, by calls of new macros, as long as that
// makes the text shorter. The group that saves most is taken first, wherever it occurs. So a step of a
// register tile is one macro with few parameters. If frequent lines went first, it would be several macros of
// one line each. Deterministic.
void MakeGroups(const std::vector<Statements*>& texts, std::deque<Macro>* macros);

// Makes macros of what blocks begin with: "for (size_t i1 = 0; i1 < trips; ++i1) {" becomes "KIR5(1) {". It
// comes last, as blocks that begin so are in no group any more.
void MakeBeginnings(const std::vector<Statements*>& texts, std::deque<Macro>* macros);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_GROUPS_H_
