#include "spec/graph_family.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "spec/cat.h"
#include "spec/graph_parser.h"
#include "spec/graph_shorthand.h"
#include "spec/identifier.h"

namespace kirsch {
namespace {

// A range in a shorthand: its own text, and that of the word around it.
struct WrittenRange {
  Word range, word;
  std::string name;
};

bool IsRange(const Word& word) {
  return word.text.find("..") != std::string_view::npos || word.text.find('|') != std::string_view::npos;
}

bool IsSizes(const Word& word) {
  return !word.text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(word.text.front()));
}

// What an option's size is called; empty: it is no size, or what depends on it is more than a shape.
std::string_view NameOfOption(std::string_view option) {
  constexpr std::array<std::string_view, 3> kSame = {"heads", "tokens", "dim"};
  if (option == "filters") return "f";
  return std::find(kSame.begin(), kSame.end(), option) != kSame.end() ? option : "";
}

std::vector<WrittenRange> RangesOf(std::string_view text) {
  constexpr std::array<std::string_view, 4> kImage = {"n", "c", "h", "w"};
  const std::vector<Word> words = SplitWords(text);
  const bool image = words.front().text == Info(Operation::kConv2d).name;
  std::vector<WrittenRange> ranges;
  for (const Word& word : words) {
    if (IsSizes(word)) {
      const std::vector<Word> sizes = Split(word, 'x');
      for (size_t i = 0; i < sizes.size(); ++i)
        if (IsRange(sizes[i]))
          ranges.push_back(
              {sizes[i], word, image && i < kImage.size() ? std::string(kImage[i]) : Cat("size", i)});
      continue;
    }
    const size_t equals = std::min(word.text.find('='), word.text.size());
    const Word value = word.Part(std::min(equals + 1, word.text.size()));
    const std::string_view name = NameOfOption(word.text.substr(0, equals));
    if (!name.empty() && IsRange(value)) ranges.push_back({value, word, std::string(name)});
  }
  return ranges;
}

// The shorthand of one member: values filled up with zeros, so that nothing changes its place.
absl::StatusOr<Graph> ParseMember(const Word& text, std::string_view source,
                                  absl::Span<const WrittenRange> ranges, absl::Span<const uint32_t> values) {
  std::string member(text.text);
  const auto place = [&](const Word& word) {
    return static_cast<size_t>(word.text.data() - text.text.data());
  };
  for (size_t i = 0; i < ranges.size(); ++i) {
    const size_t width = ranges[i].range.text.size();
    const std::string digits = Cat(values[i]);
    member.replace(place(ranges[i].range), width, std::string(width - digits.size(), '0') + digits);
  }
  absl::StatusOr<Graph> graph = ParseGraphShorthand({member, text.position}, source);
  if (graph.ok()) return graph;
  // What was written there.
  std::string message(graph.status().message());
  for (const WrittenRange& range : ranges)
    for (const Word& word : {range.word, range.range}) {
      const std::string_view padded = std::string_view(member).substr(place(word), word.text.size());
      message = absl::StrReplaceAll(message, {{Cat("got ", Quoted(padded)), Cat("got ", Quoted(word.text))}});
    }
  return absl::InvalidArgumentError(message);
}

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

bool IsShorthandFamily(std::string_view text) { return !RangesOf(text).empty(); }

absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source) {
  const std::vector<WrittenRange> ranges = RangesOf(text.text);
  std::vector<VaryingSize> sizes;
  for (const WrittenRange& range : ranges) {
    Word word = range.range;
    if (word.position.line == 1) word.position.column += text.position.column - 1;
    word.position.line += text.position.line - 1;
    absl::StatusOr<std::vector<uint32_t>> values = ParseValues(source, word);
    if (!values.ok()) return values.status();
    sizes.push_back({range.name, *std::move(values)});
  }
  return GraphFamily::Parsed(
      source, IdentifierOf(text.text), Cat(text.text, "\n"), text.position, std::move(sizes),
      [&](const std::vector<uint32_t>& values) { return ParseMember(text, source, ranges, values); });
}

}  // namespace kirsch
