// SPDX-License-Identifier: Apache-2.0
// Suite files: {"name": "...", "specs": ["matmul f32 64x64x64", ["kernel f(x: f32[8]):", "return relu(x)"],
// ...]}.
#ifndef KIRSCH_BENCH_WORKLOAD_SUITE_H_
#define KIRSCH_BENCH_WORKLOAD_SUITE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

struct SuiteSpec {
  std::string text;          // of an array of strings its lines
  int line = 0, column = 0;  // of its first character in the file, from 1, for messages about the text
};

struct Suite {
  std::string name;
  std::vector<SuiteSpec> specs;  // as written; what they mean is for the spec parser to say
};

// InvalidArgument, "FILE:LINE:COLUMN: what is wrong, what was expected", for a malformed suite; NotFound for
// a file that cannot be read.
absl::StatusOr<Suite> LoadSuite(const std::string& path);
absl::StatusOr<Suite> ParseSuite(std::string_view text, const std::string& file_name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_SUITE_H_
