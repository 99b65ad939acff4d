// SPDX-License-Identifier: Apache-2.0
// Kernels of one operation as a line of text: "softmax f32 32x1024". The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_GRAPH_SHORTHAND_H_
#define KIRSCH_SPEC_LANGUAGE_GRAPH_SHORTHAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/graph/graph.h"
#include "spec/language/parser.h"
#include "spec/language/shorthand_words.h"
#include "spec/text/text.h"

namespace kirsch {

// What a shorthand stands for, in both forms that a kernel has, or why it has not that one.
struct ShorthandKernel {
  std::string text;  // in its shortest form
  absl::StatusOr<ParsedSpec> spec;
  absl::StatusOr<Graph> graph;  // called by `text`, made an identifier
};

// Does the first word name a shorthand of a graph?
bool IsGraphShorthand(std::string_view text);

// "conv1d", "softmax" and so on.
std::vector<std::string_view> GraphShorthandNames();

// A shorthand for those who don't know it: what stands behind its name, and one of its kernels.
struct ShorthandUsage {
  std::string_view name, arguments, example;
};
std::vector<ShorthandUsage> GraphShorthands();

// Reads it; one of both forms it has. Errors are InvalidArgument, one line, with the place in `source`.
// `chosen`: of a member of a family.
absl::StatusOr<ShorthandKernel> ParseShorthand(const Word& text, std::string_view source,
                                               const ChosenSizes& chosen = {});

// The graph alone.
absl::StatusOr<Graph> ParseGraphShorthand(const Word& text, std::string_view source,
                                          const ChosenSizes& chosen = {});

// A size that is a range: its own text, and what it is called.
struct ShorthandRange {
  Word word;
  std::string name;
};

// In the order of the text. The sizes that may vary: those between `x`, called n, c, h and w of a
// convolution, else size0, size1, and so on; heads, tokens, dim; filters, called f.
std::vector<ShorthandRange> RangesOf(const Word& text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_SHORTHAND_H_
