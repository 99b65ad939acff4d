// SPDX-License-Identifier: Apache-2.0
// Finds the functions of the kernel language. They are the operations of the table that a text may call, so a
// new row of kOperations is a new function.
#ifndef KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_
#define KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_

#include <string_view>
#include <vector>

#include "spec/operation.h"

namespace kirsch {

// The function of that name. Null if there is none: a text cannot call the operations that are leaves, such
// as the load of a row program.
const OperationInfo* FindFunction(std::string_view name);

// The names in the order of the table: for messages, and for help.
std::vector<std::string_view> FunctionNames();
std::vector<std::string_view> ContractionNames();  // of those that may be a spec

// The options that a call may have behind its arguments: axis= of reductions, eps= of norms.
std::vector<std::string_view> OptionsOf(Operation op);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_
