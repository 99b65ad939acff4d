// SPDX-License-Identifier: Apache-2.0
// The words of a shorthand, taken one after the other; errors have their place in the user's text.
#ifndef KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_
#define KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/text/text.h"

namespace kirsch {

// Of a member of a family: the size that stands for each range, by where that begins in the text.
using ChosenSizes = std::map<const char*, uint32_t>;

class ShorthandWords {
 public:
  // The text and its source live longer than this, as does `chosen`.
  ShorthandWords(const Word& text, std::string_view source, const ChosenSizes& chosen)
      : source_(source), chosen_(chosen), words_(SplitWords(text)) {}

  std::string_view source() const { return source_; }
  absl::Status Expected(const Word& word, std::string_view what, std::string_view hint = "") const {
    return ExpectedAt(source_, word, what, hint);
  }

  // The next word; behind the last one an empty one, any number of times.
  Word Take() { return next_ + 1 < words_.size() ? words_[next_++] : words_.back(); }
  const Word& Peek() const { return words_[next_]; }

  // One of `names`, as its number.
  absl::StatusOr<size_t> TakeChoice(absl::Span<const std::string_view> names, std::string_view what) {
    return Choice(Take(), names, what);
  }
  absl::StatusOr<size_t> Choice(const Word& word, absl::Span<const std::string_view> names,
                                std::string_view what) const;

  // A size, or the one chosen of a range.
  absl::StatusOr<uint32_t> Size(const Word& word, std::string_view what = "a size") const;

  // "32x1024": from `least` to `most` sizes, of a tensor that is not too large.
  absl::StatusOr<std::vector<uint32_t>> Sizes(const Word& word, size_t least, size_t most) const;

  // The rest of the words: NAME=VALUE, NAME being one of `valued`, or one of `flags`, in any order, each
  // once.
  absl::Status TakeOptions(absl::Span<const std::string_view> valued,
                           absl::Span<const std::string_view> flags = {});
  bool Has(std::string_view option) const { return options_.contains(option); }
  // The value of an option that is there; of a flag, the flag.
  const Word& Value(std::string_view option) const { return options_.find(option)->second; }

  // The number that an option has; `otherwise` without it.
  absl::StatusOr<uint32_t> Number(std::string_view option, int64_t least, int64_t most,
                                  uint32_t otherwise) const;
  // The size that an option has to have.
  absl::StatusOr<uint32_t> SizeOption(std::string_view option) const;

 private:
  const std::string_view source_;
  const ChosenSizes& chosen_;
  const std::vector<Word> words_;
  size_t next_ = 0;
  std::map<std::string_view, Word> options_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_
