// SPDX-License-Identifier: Apache-2.0
// What options must not be.
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

// An empty text, as of a variable of a script that isn't set, is not taken for an option that isn't there.
inline CLI::Validator NotEmpty(const std::string& what) {
  return CLI::Validator(
      [what](std::string& text) { return text.empty() ? Cat("expected ", what, ", got nothing") : ""; }, "");
}

// Takes one of `words` only.
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
