// Where results go.
#ifndef KIRSCH_TOOLS_OUTPUT_H_
#define KIRSCH_TOOLS_OUTPUT_H_

#include <string_view>

#include "absl/status/status.h"

namespace kirsch {

// Writes `contents` to standard output if `path` is "-" or empty, else to a file, all of it or nothing.
absl::Status WriteOutput(std::string_view path, std::string_view contents);

// An error if WriteOutput would not find a place to write to at `path`. Nothing is changed there.
absl::Status CheckOutput(std::string_view path);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OUTPUT_H_
