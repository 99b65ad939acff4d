// SPDX-License-Identifier: Apache-2.0
#include "bench/workload/entries.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spec/language/contraction_graph.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Adds an entry for each member. The label of a graph of a family has its sizes in brackets.
void AddMembers(const KernelRequest& request, std::vector<BenchEntry>* entries) {
  for (int64_t i = 0; i < request.count(); ++i) {
    const KernelMember member = request.family.member(i);
    // The text of a matmul has its sizes in it; a graph of a family gets them behind its label.
    if (const auto* const matmul = std::get_if<ParsedSpec>(&member)) {
      entries->push_back({matmul->text, *matmul, {}});
      continue;
    }
    const std::string sizes = MemberText(request.sizes(), i);
    entries->push_back(
        {sizes.empty() ? request.label : Cat(request.label, " (", sizes, ")"), {}, std::get<Graph>(member)});
  }
}

}  // namespace

absl::StatusOr<std::vector<BenchEntry>> ReadEntries(const std::string& text, const std::string& source,
                                                    const std::string& kernel) {
  // The parser of kernel files also reads a shorthand.
  KIRSCH_ASSIGN_OR_RETURN(std::vector<KernelRequest> requests, ParseKernelFile(text, source));
  std::vector<BenchEntry> entries;
  for (KernelRequest& request : requests) {
    request.UseGraph();  // peers of operations take graphs
    if (!kernel.empty() && request.name != kernel) continue;
    // A family of very many sizes has no list of members.
    if (absl::Status few = CheckEachLookedAt(request.sizes()); !few.ok())
      return ErrorAt(source, request.position, std::string(few.message()));
    AddMembers(request, &entries);
  }
  if (entries.empty()) return absl::InvalidArgumentError(Cat(source, ": expected a kernel ", kernel));
  return entries;
}

absl::StatusOr<std::vector<BenchEntry>> MakeEntries(const Suite& suite, const std::string& file_name) {
  std::vector<BenchEntry> entries;
  for (const SuiteSpec& spec : suite.specs) {
    // The error has a place within the spec; the place of the spec in the suite goes before it.
    absl::StatusOr<std::vector<BenchEntry>> read = ReadEntries(spec.text, "spec");
    if (!read.ok())
      return absl::InvalidArgumentError(
          Cat(file_name, ":", spec.line, ":", spec.column, ": ", std::string(read.status().message())));
    std::move(read->begin(), read->end(), std::back_inserter(entries));
  }
  return entries;
}

absl::StatusOr<std::vector<BenchEntry>> ReadSuite(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const Suite suite, LoadSuite(path));
  return MakeEntries(suite, path);
}

absl::Status MakeAlike(std::vector<BenchEntry>* entries) {
  // A single graph, or a single epilogue, makes graphs of all.
  const bool matmuls = std::all_of(entries->begin(), entries->end(), [](const BenchEntry& entry) {
    return entry.matmul && entry.matmul->spec.op == OpKind::kMatmul;
  });
  for (BenchEntry& entry : *entries) {
    if (matmuls || entry.graph) continue;
    KIRSCH_ASSIGN_OR_RETURN(entry.graph, MatmulGraph(*entry.matmul));
    entry.matmul.reset();
  }
  return absl::OkStatus();
}

}  // namespace kirsch
