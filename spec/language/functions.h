// SPDX-License-Identifier: Apache-2.0
// The functions of the kernel language: the operations of the table that a text may call, and their options.
#ifndef KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_
#define KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_

#include <string_view>
#include <vector>

#include "spec/operation.h"

namespace kirsch {

// Null: there is none of this name.
const OperationInfo* FindFunction(std::string_view name);

// In the order of the table.
std::vector<std::string_view> FunctionNames();
std::vector<std::string_view> ContractionNames();

// What may stand before "=" behind its arguments.
std::vector<std::string_view> OptionsOf(Operation op);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_FUNCTIONS_H_
