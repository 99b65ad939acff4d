// SPDX-License-Identifier: Apache-2.0
// Reads what is to be measured from texts, suites and files.
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

// One kernel to be measured: a matmul as its shorthand says it, or a graph. What could be either is a graph
// here.
struct BenchEntry {
  std::string text;                       // for the report
  std::optional<ParsedSpec> matmul = {};  // one of these two is set
  std::optional<Graph> graph = {};
  uint64_t evicted = ~uint64_t{0};  // operands, before a cold call: see Workload::evicted
  std::string in_ram = {};  // the names of what the search takes to be in RAM, if --cold does not say it

  KernelMember kernel() const { return graph ? KernelMember(*graph) : KernelMember(*matmul); }
};

// Reads the kernels of a text: a shorthand, or lines of a file of kernels. A family gives its members, one by
// one. Unless `kernel` is empty, only the kernel of that name is taken. Errors are InvalidArgument, one line,
// with the place in `source`.
absl::StatusOr<std::vector<BenchEntry>> ReadEntries(const std::string& text, const std::string& source,
                                                    const std::string& kernel = "");

// Returns the kernels of a suite, which was read from `file_name`. Errors have the place in that file.
absl::StatusOr<std::vector<BenchEntry>> MakeEntries(const Suite& suite, const std::string& file_name);

// Reads a suite file and its kernels. Errors are those of LoadSuite and MakeEntries.
absl::StatusOr<std::vector<BenchEntry>> ReadSuite(const std::string& path);

// Makes all entries matmuls or all graphs, since a run has one kind of peers. Matmuls stay what they are if
// all entries are matmuls without an epilogue, as libraries of matmuls can do these. Otherwise all become
// graphs; an error if one can't.
absl::Status MakeAlike(std::vector<BenchEntry>* entries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_ENTRIES_H_
