// SPDX-License-Identifier: Apache-2.0
// What is to be benched, as texts, suites and files have it.
#ifndef KIRSCH_BENCH_WORKLOAD_ENTRIES_H_
#define KIRSCH_BENCH_WORKLOAD_ENTRIES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workload/suite.h"
#include "spec/graph/graph.h"
#include "spec/language/kernel_family.h"
#include "spec/language/parser.h"

namespace kirsch {

// A matmul as its shorthand says it, or a graph. What both can be is a graph here.
struct BenchEntry {
  std::string text;                       // for the report
  std::optional<ParsedSpec> matmul = {};  // ... or
  std::optional<Graph> graph = {};
  uint64_t evicted = ~uint64_t{0};  // operands, before a cold call: Workload::evicted

  KernelMember kernel() const { return graph ? KernelMember(*graph) : KernelMember(*matmul); }
};

// The kernels of a text: a shorthand, or lines of a file of kernels; of a family its members, one by one.
// Only the one called `kernel`, unless that is empty. Errors are InvalidArgument, one line, with the place in
// `source`.
absl::StatusOr<std::vector<BenchEntry>> ReadEntries(const std::string& text, const std::string& source,
                                                    const std::string& kernel = "");

// The kernels of a suite, which is in `file_name`. Errors have the place there.
absl::StatusOr<std::vector<BenchEntry>> MakeEntries(const Suite& suite, const std::string& file_name);

// Those of LoadSuite.
absl::StatusOr<std::vector<BenchEntry>> ReadSuite(const std::string& path);

// Entries that are matmuls without an epilogue stay what they are if all are, as libraries of matmuls can do
// them; else all become graphs. An error if one can't.
absl::Status MakeAlike(std::vector<BenchEntry>* entries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_ENTRIES_H_
