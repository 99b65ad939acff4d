// SPDX-License-Identifier: Apache-2.0
// Reads the list of operands that come from RAM when a kernel starts: --cold on the command line. The list
// has names of parameters, and `out`, with commas between. --cold without a list means all operands.
//    --cold=rhs,out    rhs and the result are in RAM; lhs is in the fastest cache that holds it
#ifndef KIRSCH_SYNTHESIS_COLD_OPERANDS_H_
#define KIRSCH_SYNTHESIS_COLD_OPERANDS_H_

#include <string>

#include "absl/status/status.h"
#include "search/solver/residency.h"
#include "spec/language/kernel_family.h"

namespace kirsch {

inline constexpr char kAllCold[] = "*";  // what --cold without a list stands for

// Checks a list before any search. InvalidArgument, one line with the column, if a name is none of the
// operands.
absl::Status CheckCold(const std::string& cold, const KernelMember& kernel);

// Requires a list that CheckCold accepts; another one aborts. Numbers are those of the spec's operands: where
// the spec is the transposed problem, its lhs is what the user calls rhs.
Residency ColdOperands(const std::string& cold, const KernelMember& kernel);

// The words for the list in a question to the table: "warm", "cold" or "cold rhs,out". Two texts of the same
// spec may give its operands different names. So for a spec the words are lhs, rhs, out, arg1 and so on, as
// the matmul has them.
std::string ColdText(const std::string& cold);
std::string ColdText(const std::string& cold, const ParsedSpec& parsed);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_COLD_OPERANDS_H_
