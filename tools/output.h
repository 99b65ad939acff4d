// Where results go.
#ifndef KIRSCH_TOOLS_OUTPUT_H_
#define KIRSCH_TOOLS_OUTPUT_H_

#include <string_view>

#include "absl/status/status.h"

namespace kirsch {

// Writes `contents` to standard output if `path` is "-" or empty, else to a file, all of it or nothing.
absl::Status WriteOutput(std::string_view path, std::string_view contents);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OUTPUT_H_
