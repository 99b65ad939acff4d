#include "spec/graph/family.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "spec/graph/parser.h"
#include "spec/graph/shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

absl::Status CheckConstants(std::string_view source, const Graph& graph) {
  for (const GraphNode& node : graph.nodes)
    if (node.constant)
      return ErrorAt(
          source, node.position,
          "expected a single size where a parameter is constant (each size packs it in a way of its own)");
  return absl::OkStatus();
}

}  // namespace

template <typename Parse>
absl::StatusOr<GraphFamily> GraphFamily::Parsed(std::string_view source, std::string name, std::string text,
                                                TextPosition position, std::vector<VaryingSize> sizes,
                                                Parse parse) {
  const int64_t count = CountMembers(sizes);
  if (count > kMostMembers)
    return ErrorAt(source, position,
                   Cat("expected a family of at most ", kMostMembers, " sizes, got ", count));
  GraphFamily family;
  family.name_ = std::move(name);
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(family.sizes_),
               [](const VaryingSize& size) { return size.values.size() > 1; });
  for (int64_t i = 0; i < count; ++i) {
    absl::StatusOr<Graph> graph = parse(ValuesOf(sizes, i));
    if (!graph.ok()) {
      const bool everyones =
          i == 0 && parse(ValuesOf(sizes, count - 1)).status().message() == graph.status().message();
      if (everyones) return graph.status();
      return absl::InvalidArgumentError(
          Cat(std::string(graph.status().message()), " (for ", MemberText(family.sizes_, i), ")"));
    }
    graph->name = MemberName(family.name_, family.sizes_, i);
    family.members_.push_back(*std::move(graph));
  }
  if (count > 1)
    if (absl::Status status = CheckConstants(source, family.member(0)); !status.ok()) return status;
  family.text_ = count > 1 ? std::move(text) : PrintGraph(family.member(0));
  return family;
}

absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source) {
  absl::StatusOr<KernelHead> head = ParseKernelHead(lines.front(), source);
  if (!head.ok()) return head.status();
  std::string text;
  for (const Word& line : lines)
    Append(&text, text.empty() ? "" : "  ", absl::StripAsciiWhitespace(ForAbsl(line.text)), "\n");
  return GraphFamily::Parsed(
      source, head->name, text, lines.front().position, std::move(head->sizes),
      [&](const std::vector<uint32_t>& values) { return ParseGraph(lines, source, values); });
}

absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source) {
  const std::vector<ShorthandRange> ranges = RangesOf(text);
  std::vector<VaryingSize> sizes;
  for (const ShorthandRange& range : ranges) {
    absl::StatusOr<std::vector<uint32_t>> values = ParseValues(source, range.word);
    if (!values.ok()) return values.status();
    sizes.push_back({range.name, *std::move(values)});
  }
  return GraphFamily::Parsed(source, IdentifierOf(text.text), Cat(text.text, "\n"), text.position,
                             std::move(sizes), [&](const std::vector<uint32_t>& values) {
                               ChosenSizes chosen;
                               for (size_t i = 0; i < ranges.size(); ++i)
                                 chosen[ranges[i].word.text.data()] = values[i];
                               return ParseGraphShorthand(text, source, chosen);
                             });
}

GraphFamily::GraphFamily(Graph single) : name_(single.name), text_(PrintGraph(single)) {
  members_.push_back(std::move(single));
}

}  // namespace kirsch
