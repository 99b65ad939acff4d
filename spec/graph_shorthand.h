// Graphs of one operation as a line of text: "softmax f32 32x1024". The grammar is in spec/README.md.
#ifndef KIRSCH_SPEC_GRAPH_SHORTHAND_H_
#define KIRSCH_SPEC_GRAPH_SHORTHAND_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/graph.h"
#include "spec/text.h"

namespace kirsch {

// Does the first word name a shorthand of a graph?
bool IsGraphShorthand(std::string_view text);

// "conv2d, softmax, ..." for messages.
std::string GraphShorthandNames();

// Reads it; the kernel is called by its text, made an identifier. Errors are InvalidArgument, one line, with
// the place.
absl::StatusOr<Graph> ParseGraphShorthand(const Word& text, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_SHORTHAND_H_
