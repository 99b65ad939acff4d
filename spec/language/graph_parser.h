// SPDX-License-Identifier: Apache-2.0
// Text to graphs.
#ifndef KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/graph/graph.h"
#include "spec/language/mixture.h"
#include "spec/language/varying_size.h"
#include "spec/text/text.h"

namespace kirsch {

// Reads the lines of one kernel, without comments: "kernel NAME(x: TYPE, ...) [-> TYPE]:", then "v =
// EXPRESSION" any number of times, and "return EXPRESSION" last. Errors are InvalidArgument, one line, with
// the place.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source);

// A kernel's name, and the sizes that have names: "kernel NAME[m = 1..64 mixture=1:0.7,64:0.3, n =
// 8|16](...".
struct KernelHead {
  std::string name;
  std::vector<VaryingSize> sizes;
  // Of each size, how often its values are asked for; empty: evenly. And where the first mixture stands.
  std::vector<std::vector<SizeShare>> mixtures = {};
  std::optional<TextPosition> mixture_at = {};
};
absl::StatusOr<KernelHead> ParseKernelHead(const Word& line, std::string_view source);

// The kernel with these values for its size names, in their order. Its name is the family's.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source,
                                 absl::Span<const uint32_t> values);

// The finite number that is all of `text`.
std::optional<float> ParseFinite(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_
