#include "bench/graph_text.h"

#include <utility>

#include "spec/cat.h"
#include "spec/file.h"
#include "spec/graph_parser.h"
#include "spec/graph_shorthand.h"
#include "spec/kernel_file.h"

namespace kirsch {
namespace {

bool IsKernel(std::string_view text) { return SplitWords(text).front().text == "kernel"; }

}  // namespace

bool IsGraphText(std::string_view text) { return IsKernel(text) || IsGraphShorthand(text); }

absl::StatusOr<GraphItem> ReadGraph(const std::string& text, const std::string& source) {
  absl::StatusOr<Graph> graph =
      IsKernel(text) ? ParseGraph(Split({text, {}}, '\n'), source) : ParseGraphShorthand({text, {}}, source);
  if (!graph.ok()) return graph.status();
  return GraphItem{IsKernel(text) ? graph->name : text, *std::move(graph)};
}

absl::StatusOr<std::vector<GraphItem>> ReadGraphs(const std::string& path, const std::string& kernel) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(*text, path, KernelForm::kGraphs);
  if (!requests.ok()) return requests.status();
  std::vector<GraphItem> items;
  for (const KernelRequest& request : *requests) {
    if (!kernel.empty() && request.name != kernel) continue;
    if (!request.graph || request.graph->count() > 1)
      return absl::InvalidArgumentError(Cat(path, ": expected single kernels of graphs, but ", request.name,
                                            request.graph ? " is a family" : " is a spec"));
    items.push_back({request.name, request.graph->member(0)});
  }
  if (items.empty()) return absl::InvalidArgumentError(Cat(path, ": expected a kernel ", kernel));
  return items;
}

}  // namespace kirsch
