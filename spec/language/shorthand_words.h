// SPDX-License-Identifier: Apache-2.0
// Takes the words of a shorthand one after the other, for parsers of its operations. Errors have their place
// in the user's text.
#ifndef KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_
#define KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/text/text.h"

namespace kirsch {

// The sizes of a member of a family: for each range of the text, by the address at which it begins, the size
// that stands for it. A range is no number, so parsers would refuse it otherwise.
using ChosenSizes = std::map<const char*, uint32_t>;

// First the words in their order (Take), then the options (TakeOptions), which are asked by name. Not
// thread-safe.
class ShorthandWords {
 public:
  // All arguments must outlive this.
  ShorthandWords(const Word& text, std::string_view source, const ChosenSizes& chosen)
      : source_(source), chosen_(chosen), words_(SplitWords(text)) {}

  std::string_view source() const { return source_; }
  absl::Status Expected(const Word& word, std::string_view what, std::string_view hint = "") const {
    return ExpectedAt(source_, word, what, hint);
  }

  // The next word; behind the last one an empty one, any number of times.
  Word Take() { return next_ + 1 < words_.size() ? words_[next_++] : words_.back(); }
  const Word& Peek() const { return words_[next_]; }

  // The next word, which is one of `names`: its number among them. `what` says what it is to be.
  absl::StatusOr<size_t> TakeChoice(absl::Span<const std::string_view> names, std::string_view what) {
    return Choice(Take(), names, what);
  }
  absl::StatusOr<size_t> Choice(const Word& word, absl::Span<const std::string_view> names,
                                std::string_view what) const;

  // The size that `word` is, or the one that was chosen for the range that it is. From 1 to kMaxSide.
  absl::StatusOr<uint32_t> Size(const Word& word, std::string_view what = "a size") const;

  // "32x1024": the sizes of a tensor, `least` to `most` of them. Together they make kMaxElements at most.
  absl::StatusOr<std::vector<uint32_t>> Sizes(const Word& word, size_t least, size_t most) const;

  // Reads the rest of the words as options, in any order, each once: NAME=VALUE, where NAME is one of
  // `valued`, or one of `flags` alone.
  absl::Status TakeOptions(absl::Span<const std::string_view> valued,
                           absl::Span<const std::string_view> flags = {});
  bool Has(std::string_view option) const { return options_.contains(option); }
  // The value of an option that is there (Has); of a flag, the flag itself.
  const Word& Value(std::string_view option) const { return options_.find(option)->second; }

  // The number that an option has, from `least` to `most`; `otherwise` if the option is not there.
  absl::StatusOr<uint32_t> Number(std::string_view option, int64_t least, int64_t most,
                                  uint32_t otherwise) const;
  // The size of an option that has to be there.
  absl::StatusOr<uint32_t> SizeOption(std::string_view option) const;

 private:
  const std::string_view source_;
  const ChosenSizes& chosen_;
  const std::vector<Word> words_;
  // Of the word that Take returns next.
  size_t next_ = 0;
  // By name: the value, or of a flag its own word. Filled by TakeOptions.
  std::map<std::string_view, Word> options_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_SHORTHAND_WORDS_H_
