// SPDX-License-Identifier: Apache-2.0
#include "spec/language/mixture.h"

#include <algorithm>
#include <charconv>

#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// With more calls to one size of another, the others would count for nothing.
constexpr double kMostShare = 1e9;

// A share as a decimal number; all of the word has to be one.
absl::StatusOr<double> ParseShare(std::string_view source, const Word& word) {
  double share = 0;
  const char* const end = word.text.data() + word.text.size();
  const auto [rest, error] = std::from_chars(word.text.data(), end, share);
  if (error == std::errc() && rest == end && share >= 1 / kMostShare && share <= kMostShare) return share;
  return ExpectedAt(source, word, "a share of the calls from 1e-9 to 1e9");
}

}  // namespace

absl::StatusOr<std::optional<Word>> TakeMixture(std::string_view source, std::vector<Word>* words) {
  // The mixture may stand anywhere among the options.
  std::optional<Word> mixture;
  for (const Word& word : *words) {
    if (!word.text.starts_with(kMixtureOption)) continue;
    if (mixture) return ExpectedAt(source, word, "each option once");
    mixture = word;
  }
  std::erase_if(*words, [](const Word& word) { return word.text.starts_with(kMixtureOption); });
  return mixture;
}

absl::StatusOr<std::vector<SizeShare>> ParseMixture(std::string_view source, const Word& word,
                                                    const VaryingSize& size) {
  std::vector<SizeShare> mixture;
  for (const Word& part : Split(word, ',')) {
    const size_t colon = part.text.find(':');
    if (colon == std::string_view::npos) return ExpectedAt(source, part, "SIZE:SHARE");
    const Word number = part.Part(0, colon);
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t value, ParseNumber(source, number, "a size",
                                                              std::min(1u, size.values.front()), kMaxSide));
    // `values` are ascending and complete: samples are drawn later, and keep the mixture's sizes.
    if (!std::ranges::binary_search(size.values, value))
      return ExpectedAt(source, number, Cat("one of the sizes that ", size.name, " may be"));
    const bool again =
        std::ranges::any_of(mixture, [&](const SizeShare& before) { return before.size == value; });
    if (again) return ExpectedAt(source, number, "each size once");
    KIRSCH_ASSIGN_OR_RETURN(const double share, ParseShare(source, part.Part(colon + 1)));
    mixture.push_back({value, share});
  }
  return mixture;
}

std::string PrintMixture(absl::Span<const SizeShare> mixture) {
  std::string text;
  for (const SizeShare& part : mixture) {
    // to_chars writes the fewest digits that are read as the same share.
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), part.share);
    Append(&text, text.empty() ? "" : ",", part.size, ":", std::string_view(digits, end.ptr - digits));
  }
  return text;
}

}  // namespace kirsch
