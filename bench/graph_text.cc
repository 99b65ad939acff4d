#include "bench/graph_text.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "spec/cat.h"
#include "spec/graph_parser.h"
#include "spec/graph_shorthand.h"

namespace kirsch {
namespace {

bool IsKernel(std::string_view text) { return SplitWords(text).front().text == "kernel"; }

absl::StatusOr<GraphItem> ReadLines(const std::vector<Word>& lines, const std::string& source) {
  absl::StatusOr<Graph> graph = ParseGraph(lines, source);
  if (!graph.ok()) return graph.status();
  const std::string name = graph->name;
  return GraphItem{name, *std::move(graph)};
}

}  // namespace

bool IsGraphText(std::string_view text) { return IsKernel(text) || IsGraphShorthand(text); }

absl::StatusOr<GraphItem> ReadGraph(const std::string& text, const std::string& source) {
  if (IsKernel(text)) return ReadLines(Split({text, {}}, '\n'), source);
  absl::StatusOr<Graph> graph = ParseGraphShorthand({text, {}}, source);
  if (!graph.ok()) return graph.status();
  return GraphItem{text, *std::move(graph)};
}

absl::StatusOr<std::vector<GraphItem>> ReadGraphs(const std::string& path, const std::string& kernel) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stream;
  if (!file || !(stream << file.rdbuf())) return absl::NotFoundError(Cat(path, ": cannot be read"));
  const std::string text = stream.str();
  std::vector<GraphItem> items;
  std::vector<Word> lines;
  int number = 0;
  for (Word line : Split({text, {}}, '\n')) {
    line.position = {++number, 1};
    line = line.Part(0, line.text.find('#'));
    const std::string_view first = SplitWords(line.text).front().text;
    if (first.empty()) continue;
    if (lines.empty() && first != "kernel") return ExpectedAt(path, line, "a kernel in the kernel language");
    lines.push_back(line);
    if (first != "return") continue;
    absl::StatusOr<GraphItem> item = ReadLines(std::exchange(lines, {}), path);
    if (!item.ok()) return item.status();
    if (kernel.empty() || item->text == kernel) items.push_back(*std::move(item));
  }
  if (!lines.empty()) return ReadLines(lines, path).status();
  if (items.empty())
    return absl::InvalidArgumentError(
        Cat(path, ": expected a kernel", kernel.empty() ? "" : Cat(" ", kernel)));
  return items;
}

}  // namespace kirsch
