// SPDX-License-Identifier: Apache-2.0
#include "spec/language/shorthand_words.h"

#include <algorithm>

#include "spec/graph/types.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {

absl::StatusOr<size_t> ShorthandWords::Choice(const Word& word, absl::Span<const std::string_view> names,
                                              std::string_view what) const {
  const auto found = std::ranges::find(names, word.text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return Expected(word, Cat(what, " (", Join(names, "|"), ")"), DidYouMean(word.text, names));
}

absl::StatusOr<uint32_t> ShorthandWords::Size(const Word& word, std::string_view what) const {
  // The address of a word tells which range of the text it is, even if two look alike.
  const auto chosen = chosen_.find(word.text.data());
  return chosen != chosen_.end() ? chosen->second : ParseNumber(source_, word, what, 1, kMaxSide);
}

absl::StatusOr<std::vector<uint32_t>> ShorthandWords::Sizes(const Word& word, size_t least,
                                                            size_t most) const {
  const std::vector<Word> parts = Split(word, 'x');
  if (parts.size() < least || parts.size() > most)
    return Expected(word, Cat(least == most ? "" : Cat(least, " to "), most, " sizes with x between them"));
  std::vector<uint32_t> sizes;
  for (const Word& part : parts) {
    KIRSCH_ASSIGN_OR_RETURN(uint32_t size, Size(part));
    sizes.push_back(size);
  }
  // The product may not fit 64 bits.
  if (IsTooLarge(sizes)) return Expected(word, Cat("at most ", kMaxElements, " elements"));
  return sizes;
}

absl::Status ShorthandWords::TakeOptions(absl::Span<const std::string_view> valued,
                                         absl::Span<const std::string_view> flags) {
  const auto among = [](absl::Span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  while (!Peek().text.empty()) {
    const Word word = Take();
    // A word with '=' can be a valued option only, any other a flag only.
    const size_t equals = word.text.find('=');
    const bool flag = equals == std::string_view::npos;
    const std::string_view name = word.text.substr(0, equals);
    if (!among(flag ? flags : valued, name)) {
      std::string names = valued.empty() ? "" : Cat(Join(valued, "= "), "=");
      if (!flags.empty()) Append(&names, " ", Join(flags, " "));
      std::vector<std::string_view> known(valued.begin(), valued.end());
      known.insert(known.end(), flags.begin(), flags.end());
      return Expected(word, names.empty() ? "the end" : Cat("an option (", names, ")"),
                      DidYouMean(name, known));
    }
    if (!options_.try_emplace(name, flag ? word : word.Part(equals + 1)).second)
      return Expected(word, "each option once");
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> ShorthandWords::Number(std::string_view option, int64_t least, int64_t most,
                                                uint32_t otherwise) const {
  if (!Has(option)) return otherwise;
  return ParseNumber(source_, Value(option), option, least, most);
}

absl::StatusOr<uint32_t> ShorthandWords::SizeOption(std::string_view option) const {
  // A missing option has the place of the end of the text.
  if (!Has(option)) return Expected(words_.back(), Cat(option, "=NUMBER"));
  return Size(Value(option), option);
}

}  // namespace kirsch
