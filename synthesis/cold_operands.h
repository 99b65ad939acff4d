// SPDX-License-Identifier: Apache-2.0
// Which operands come from RAM, --cold on the command line. A list of parameters' names, and out, with commas
// between. Without a list: all.
#ifndef KIRSCH_SYNTHESIS_COLD_OPERANDS_H_
#define KIRSCH_SYNTHESIS_COLD_OPERANDS_H_

#include <string>

#include "absl/status/status.h"
#include "search/solver/residency.h"
#include "spec/language/kernel_family.h"

namespace kirsch {

inline constexpr char kAllCold[] = "*";  // what --cold without a list stands for

// InvalidArgument, one line with the column, if the list has what is none of the operands.
absl::Status CheckCold(const std::string& cold, const KernelMember& kernel);

// Of a list that has been checked. Numbers are those of the spec's operands, whatever the user calls lhs.
Residency ColdOperands(const std::string& cold, const KernelMember& kernel);

// Of a question that the table is asked. Texts that are the same spec may call its operands what they like:
// there these are lhs, rhs, out, arg1 and so on of the matmul.
std::string ColdText(const std::string& cold);
std::string ColdText(const std::string& cold, const ParsedSpec& parsed);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_COLD_OPERANDS_H_
