// SPDX-License-Identifier: Apache-2.0
// Fills lines of C with what nobody reads one by one: calls of macros, rows of tables.
#ifndef KIRSCH_CODEGEN_C_C_LINES_H_
#define KIRSCH_CODEGEN_C_C_LINES_H_

#include <cstddef>
#include <string>

#include "absl/types/span.h"
#include "spec/text/cat.h"

namespace kirsch {

inline constexpr size_t kLineWidth = 110;  // bytes

// Fills lines with words, a space between two. Lines begin with the indent; `more` ends all but the last.
inline std::string Flow(absl::Span<const std::string> words, const std::string& indent, const char* more) {
  std::string text, line = indent;
  for (const std::string& word : words) {
    if (line.size() > indent.size() && line.size() + word.size() > kLineWidth) {
      Append(&text, line, more, "\n");
      line = indent;
    }
    Append(&line, line.size() > indent.size() ? " " : "", word);
  }
  return Cat(text, line, "\n");
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_LINES_H_
