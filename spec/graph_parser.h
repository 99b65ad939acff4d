// Text to graphs.
#ifndef KIRSCH_SPEC_GRAPH_PARSER_H_
#define KIRSCH_SPEC_GRAPH_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/graph.h"

namespace kirsch {

// Reads the lines of one kernel, without comments: "kernel NAME(x: TYPE, ...) [-> TYPE]:", then "v =
// EXPRESSION" any number of times, and "return EXPRESSION" last. Errors are InvalidArgument, one line, with
// the place.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_PARSER_H_
