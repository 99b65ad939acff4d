// SPDX-License-Identifier: Apache-2.0
#include "spec/language/graph_family.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/ascii.h"
#include "spec/language/graph_parser.h"
#include "spec/language/graph_shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// A constant parameter is packed once, and all members read that copy. So its type may not depend on a size.
// The error shows the first two members that differ.
absl::Status CheckConstants(std::string_view source, absl::Span<const Graph> members,
                            absl::Span<const VaryingSize> sizes) {
  for (int input = 0; input < members.front().num_inputs(); ++input) {
    const GraphNode& first = members.front().at(input);
    for (size_t i = 0; first.constant && i < members.size(); ++i)
      if (members[i].at(input).type != first.type)
        return ErrorAt(
            source, first.position,
            Cat("expected a constant parameter's sizes not to vary, as it is packed once for all (",
                PrintTensorType(first.type), " for ", MemberText(sizes, 0), ", ",
                PrintTensorType(members[i].at(input).type), " for ",
                MemberText(sizes, static_cast<int64_t>(i)), ")"));
  }
  return absl::OkStatus();
}

// Removes the sizes that have one value: they do not vary, and are in no name of a member. In sums the value
// takes their place.
void DropSingleSizes(KernelHead* head) {
  for (size_t i = head->sizes.size(); i-- > 0;) {
    if (head->sizes[i].values.size() > 1) continue;
    for (TiedSize& tied : head->ties) {
      std::vector<size_t>& terms = tied.sum.sizes;
      for (size_t term : terms) tied.sum.plus += term == i ? head->sizes[i].values.front() : 0;
      std::erase(terms, i);
      for (size_t& term : terms) term -= term > i ? 1 : 0;
    }
    head->sizes.erase(head->sizes.begin() + static_cast<std::ptrdiff_t>(i));
    head->mixtures.erase(head->mixtures.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// A copy of the lines. Members are also parsed later, when the user's text is gone.
class OwnText {
 public:
  explicit OwnText(absl::Span<const Word> lines) {
    // A short string lies within its object, so the strings must not move: `lines_` points into them.
    texts_.reserve(lines.size());
    for (const Word& line : lines) {
      texts_.emplace_back(line.text);
      lines_.push_back({texts_.back(), line.position});
    }
  }
  OwnText(const OwnText&) = delete;

  absl::Span<const Word> lines() const { return lines_; }

 private:
  std::vector<std::string> texts_;
  std::vector<Word> lines_;
};

// The values of all sizes, and then of all ties: `varying` has those of ties, and before them those of sizes
// that have several; the others have their only value.
std::vector<uint32_t> AllValues(absl::Span<const VaryingSize> sizes, absl::Span<const uint32_t> varying) {
  std::vector<uint32_t> values;
  const auto* next = varying.begin();
  for (const VaryingSize& size : sizes)
    values.push_back(size.values.size() > 1 ? *next++ : size.values.front());
  values.insert(values.end(), next, varying.end());
  return values;
}

// The values of sizes, and behind them those of the ties.
std::vector<uint32_t> WithTies(std::vector<uint32_t> values, absl::Span<const TiedSize> ties) {
  const size_t count = values.size();
  for (const TiedSize& tied : ties) values.push_back(tied.sum.Of({values.data(), count}));
  return values;
}

}  // namespace

absl::StatusOr<GraphFamily> GraphFamily::Parsed(std::string_view source, KernelHead head, std::string text,
                                                TextPosition position, const Parse& parse) {
  // Choose the values to look at. Those that a mixture names stay, as they are asked for.
  std::vector<std::vector<uint32_t>> kept(head.sizes.size());
  for (size_t i = 0; i < kept.size(); ++i)
    for (const SizeShare& share : head.mixtures[i]) kept[i].push_back(share.size);
  SampleSizes(&head.sizes, kept);
  const std::vector<VaryingSize> sizes = head.sizes;
  // Sizes that are no range, such as lists, cannot be sampled: then there may still be too many.
  const int64_t count = CountMembers(sizes);
  if (count > kMostMembers) return ErrorAt(source, position, std::string(CheckEachLookedAt(sizes).message()));
  const std::vector<TiedSize> ties = head.ties;
  const auto member = [&](int64_t i) { return parse(WithTies(ValuesOf(sizes, i), ties)); };
  DropSingleSizes(&head);
  GraphFamily family;
  family.name_ = std::move(head.name);
  family.sizes_ = std::move(head.sizes);
  family.ties_ = std::move(head.ties);
  family.mixtures_ = std::move(head.mixtures);
  for (int64_t i = 0; i < count; ++i) {
    absl::StatusOr<Graph> graph = member(i);
    if (!graph.ok()) {
      // A mistake that the last member has as well is one of the kernel, not of a size: the message names no
      // member.
      const bool everyones = i == 0 && member(count - 1).status().message() == graph.status().message();
      if (everyones) return graph.status();
      return absl::InvalidArgumentError(
          Cat(std::string(graph.status().message()), " (for ", MemberText(family.sizes_, i), ")"));
    }
    graph->name = MemberName(family.name_, family.sizes_, i);
    family.members_.push_back(*std::move(graph));
  }
  family.parse_ = [sizes, parse](absl::Span<const uint32_t> values) {
    return parse(AllValues(sizes, values));
  };
  KIRSCH_RETURN_IF_ERROR(CheckConstants(source, family.members_, family.sizes_));
  // A mixture decides how constants are packed for several sizes. Where either is missing it would mean
  // nothing.
  if (head.mixture_at && (count == 1 || !family.member(0).HasConstants()))
    return ErrorAt(source, *head.mixture_at,
                   "expected a mixture only where sizes vary and a parameter is constant, which it is packed "
                   "for");
  family.text_ = count > 1 ? std::move(text) : PrintGraph(family.member(0));
  return family;
}

absl::StatusOr<GraphFamily> ParseGraphFamily(absl::Span<const Word> lines, std::string_view source) {
  KIRSCH_ASSIGN_OR_RETURN(KernelHead head, ParseKernelHead(lines.front(), source));
  // The family's text: the head, and the statements two blanks further in.
  std::string text;
  for (const Word& several : lines)
    for (const Word& line : Split(several, '\n')) {
      const auto content = absl::StripAsciiWhitespace(ForAbsl(line.text));
      if (!content.empty()) Append(&text, text.empty() ? "" : "  ", content, "\n");
    }
  // The function that makes members outlives `lines`, and is copied with the family.
  const auto own = std::make_shared<const OwnText>(lines);
  return GraphFamily::Parsed(source, std::move(head), text, lines.front().position,
                             [own, from = std::string(source)](absl::Span<const uint32_t> values) {
                               return ParseGraph(own->lines(), from, values);
                             });
}

absl::StatusOr<GraphFamily> ParseShorthandFamily(const Word& text, std::string_view source) {
  std::vector<Word> words = SplitWords(text);
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<Word> mixture, TakeMixture(source, &words));
  // Members are made from the same text with blanks in the mixture's place, so that errors have the right
  // columns.
  std::string blanked(text.text);
  if (mixture)
    blanked.replace(static_cast<size_t>(mixture->text.data() - text.text.data()), mixture->text.size(),
                    mixture->text.size(), ' ');
  const Word kernel = {blanked, text.position};
  const auto own = std::make_shared<const OwnText>(absl::MakeConstSpan(&kernel, 1));
  const std::vector<ShorthandRange> ranges = RangesOf(own->lines().front());
  KernelHead head{MakeIdentifier(text.text), {}};
  for (const ShorthandRange& range : ranges) {
    KIRSCH_ASSIGN_OR_RETURN(std::vector<uint32_t> values, ParseValues(source, range.word));
    head.sizes.push_back({range.name, std::move(values)});
  }
  head.mixtures.resize(ranges.size());
  if (mixture) {
    // A shorthand's mixture names no size.
    if (ranges.size() != 1) return ExpectedAt(source, *mixture, "a mixture only where a single size varies");
    KIRSCH_ASSIGN_OR_RETURN(head.mixtures.front(),
                            ParseMixture(source, mixture->Part(kMixtureOption.size()), head.sizes.front()));
    head.mixture_at = mixture->position;
  }
  return GraphFamily::Parsed(source, std::move(head), Cat(text.text, "\n"), text.position,
                             [own, ranges, from = std::string(source)](absl::Span<const uint32_t> values) {
                               // The shorthand is read anew for each member. Each range is known by where it
                               // begins in the text.
                               ChosenSizes chosen;
                               for (size_t i = 0; i < ranges.size(); ++i)
                                 chosen[ranges[i].word.text.data()] = values[i];
                               return ParseGraphShorthand(own->lines().front(), from, chosen);
                             });
}

std::vector<uint32_t> GraphFamily::TiedValues(absl::Span<const uint32_t> values) const {
  std::vector<uint32_t> tied;
  for (const TiedSize& size : ties_) tied.push_back(size.sum.Of(values));
  return tied;
}

absl::StatusOr<Graph> GraphFamily::MemberOf(absl::Span<const uint32_t> values) const {
  return MemberOf(values, TiedValues(values));
}

absl::StatusOr<Graph> GraphFamily::MemberOf(absl::Span<const uint32_t> values,
                                            absl::Span<const uint32_t> tied) const {
  std::vector<uint32_t> all(values.begin(), values.end());
  all.insert(all.end(), tied.begin(), tied.end());
  absl::StatusOr<Graph> graph = parse_ ? parse_(all) : member(0);
  if (graph.ok()) graph->name = name_;
  return graph;
}

GraphFamily::GraphFamily(Graph single) : name_(single.name), text_(PrintGraph(single)) {
  members_.push_back(std::move(single));
}

}  // namespace kirsch
