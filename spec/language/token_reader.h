// SPDX-License-Identifier: Apache-2.0
// Reads a line of the kernel language token by token.
#ifndef KIRSCH_SPEC_LANGUAGE_TOKEN_READER_H_
#define KIRSCH_SPEC_LANGUAGE_TOKEN_READER_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "spec/text/text.h"

namespace kirsch {

// Tokens are words (names, numbers with their sign, sizes) and single signs, of which "->" is one. Behind the
// last one there is an empty one, at the end of the line, as often as it is taken. A head may have several
// lines.
//
//   y = add(x, -1.5e-3)   ->   y  =  add  (  x  ,  -1.5e-3  )  ""
class TokenReader {
 public:
  // `source`: what errors call the text.
  explicit TokenReader(std::string_view source) : source_(source) {}

  std::string_view source() const { return source_; }
  // Begins a line. Nothing else may be called before.
  void Start(const Word& line);

  const Word& Peek() const { return tokens_[next_]; }
  const Word& PeekBehind() const { return next_ + 1 < tokens_.size() ? tokens_[next_ + 1] : tokens_.back(); }
  Word Take() { return next_ + 1 < tokens_.size() ? tokens_[next_++] : tokens_.back(); }
  // An error if the next token is another one.
  absl::Status TakeSign(std::string_view sign);
  absl::Status ExpectEnd() const;

  absl::Status Expected(const Word& word, std::string_view what, std::string_view hint = "") const;

 private:
  const std::string_view source_;
  std::vector<Word> tokens_;
  size_t next_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_TOKEN_READER_H_
