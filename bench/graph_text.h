// Graphs to be benched, as texts and files have them.
#ifndef KIRSCH_BENCH_GRAPH_TEXT_H_
#define KIRSCH_BENCH_GRAPH_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/run_graph.h"

namespace kirsch {

// Whether the text is a shorthand of a graph or a kernel in the kernel language.
bool IsGraphText(std::string_view text);

// Reads one. Errors are InvalidArgument, one line, with the place.
absl::StatusOr<GraphItem> ReadGraph(const std::string& text, const std::string& source = "spec");

// The kernels of a file, or the one of that name.
absl::StatusOr<std::vector<GraphItem>> ReadGraphs(const std::string& path, const std::string& kernel);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_GRAPH_TEXT_H_
