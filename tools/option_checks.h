// SPDX-License-Identifier: Apache-2.0
// Checks the values of options while they are parsed, so that an error says what was expected.
#ifndef KIRSCH_TOOLS_OPTION_CHECKS_H_
#define KIRSCH_TOOLS_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"

namespace kirsch {

// Refuses an empty text. A script whose variable is not set passes one; it must not count as a missing
// option. `what` is what the option expects: "a file".
inline CLI::Validator NotEmpty(const std::string& what) {
  return CLI::Validator(
      [what](std::string& text) { return text.empty() ? Cat("expected ", what, ", got nothing") : ""; }, "");
}

// Takes only one of `words`. The error lists them, and says which one is nearest:
//   expected header|c|ll|asm|obj|schedule|program|loops, got 'heder'; did you mean 'header'?
inline CLI::Validator WordOf(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return Cat("expected ", Join(words, "|"), ", got ", Quoted(text), DidYouMean(text, words));
      },
      "");
}

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OPTION_CHECKS_H_
