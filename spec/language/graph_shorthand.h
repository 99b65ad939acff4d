// SPDX-License-Identifier: Apache-2.0
// Reads shorthands: kernels of one operation as a line of text, "softmax f32 32x1024". The grammar is in
// docs/spec.md.
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

// A kernel in both forms that it may have. A form that it lacks is an error which says why. A convolution may
// have both, every other shorthand of this table is a graph alone.
struct ShorthandKernel {
  std::string text;  // in its shortest form
  absl::StatusOr<ParsedSpec> spec;
  absl::StatusOr<Graph> graph;  // called by `text`, made an identifier
};

// Does the first word name a shorthand of a graph?
bool IsGraphShorthand(std::string_view text);

// The shorthands' names: "conv1d", "softmax" and so on. matmul is none of them: parser.h reads it.
std::vector<std::string_view> GraphShorthandNames();

// A shorthand for those who don't know it: what stands behind its name, and an example. `kirsch help SPEC`
// prints both.
struct ShorthandUsage {
  std::string_view name, arguments, example;
};
std::vector<ShorthandUsage> GraphShorthands();

// Reads a shorthand, which has one of both forms at least. `chosen` has the sizes of a member of a family,
// instead of the text's ranges. Errors are InvalidArgument, one line, with the place in `source`.
absl::StatusOr<ShorthandKernel> ParseShorthand(const Word& text, std::string_view source,
                                               const ChosenSizes& chosen = {});

// The same where only the graph is of interest.
absl::StatusOr<Graph> ParseGraphShorthand(const Word& text, std::string_view source,
                                          const ChosenSizes& chosen = {});

// A size that is a range: its own text, and the name by which messages and generated code call it.
struct ShorthandRange {
  Word word;
  std::string name;
};

// The ranges of a shorthand, in the order of the text. The sizes that may vary are:
//
//   between x       called n, c, d, h and w of a convolution, else size0, size1, and so on
//   heads, tokens, dim
//   filters         called f
std::vector<ShorthandRange> RangesOf(const Word& text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_SHORTHAND_H_
