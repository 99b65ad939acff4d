// SPDX-License-Identifier: Apache-2.0
// Reads suite files, which list the specs to be measured:
//
//   {"name": "...", "specs": ["matmul f32 64x64x64", ["kernel f(x: f32[8]):", "return relu(x)"], ...]}
#ifndef KIRSCH_BENCH_WORKLOAD_SUITE_H_
#define KIRSCH_BENCH_WORKLOAD_SUITE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// One spec of a suite, with its place for messages.
struct SuiteSpec {
  std::string text;          // lines of an array are joined by newlines
  int line = 0, column = 0;  // of its first character in the file, from 1, for messages about the text
};

// A suite is never without specs.
struct Suite {
  std::string name;
  std::vector<SuiteSpec> specs;  // as written; what they mean is for the spec parser to say
};

// Reads a suite from a file. NotFound if it cannot be read; InvalidArgument, "FILE:LINE:COLUMN: what is
// wrong, what was expected", for a malformed suite.
absl::StatusOr<Suite> LoadSuite(const std::string& path);
// Reads a suite from its text; `file_name` is for messages.
absl::StatusOr<Suite> ParseSuite(std::string_view text, const std::string& file_name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_SUITE_H_
