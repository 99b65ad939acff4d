// Which operands come from RAM, --cold on the command line. A list of names with commas between: lhs, rhs,
// out, arg1 and so on of a spec; of a graph, and of a kernel in the kernel language, its parameters and out.
// Without a list: all.
#ifndef KIRSCH_TOOLS_COLD_OPERANDS_H_
#define KIRSCH_TOOLS_COLD_OPERANDS_H_

#include <string>

#include "absl/status/status.h"
#include "search/residency.h"
#include "spec/graph/graph.h"
#include "spec/text/kernel_file.h"
#include "spec/text/parser.h"

namespace kirsch {

inline constexpr char kAllCold[] = "*";  // what --cold without a list stands for

// InvalidArgument, one line with the column, if the list has what is none of the operands.
absl::Status CheckCold(const std::string& cold, const ParsedSpec& parsed);
absl::Status CheckCold(const std::string& cold, const Graph& graph);
absl::Status CheckCold(const std::string& cold, const KernelRequest& request);

// Of a list that has been checked. Numbers are those of the spec's operands, whatever the user calls lhs.
Residency ColdOperands(const std::string& cold, const ParsedSpec& parsed);
Residency ColdOperands(const std::string& cold, const Graph& graph);

// The list in a spec's own names, where the request has others for its operands.
std::string ColdInSpec(const std::string& cold, const KernelRequest& request);

// Of a question that the table is asked.
std::string ColdText(const std::string& cold);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_COLD_OPERANDS_H_
