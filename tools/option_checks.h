// What options must not be.
#ifndef KIRSCH_TOOLS_OPTION_CHECKS_H_
#define KIRSCH_TOOLS_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "spec/text/cat.h"

namespace kirsch {

// An empty text, as of a variable of a script that isn't set, is not taken for an option that isn't there.
inline CLI::Validator NotEmpty(const std::string& what) {
  return CLI::Validator(
      [what](std::string& text) { return text.empty() ? Cat("expected ", what, ", got nothing") : ""; }, "");
}

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OPTION_CHECKS_H_
