// SPDX-License-Identifier: Apache-2.0
// Reads kernels in the kernel language as graphs. The grammar is in docs/spec.md.
//
// Types and shapes are inferred while a kernel is read, so that an error has the place of the operation that
// it is about.
#ifndef KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/graph/graph.h"
#include "spec/language/kernel_head.h"
#include "spec/text/text.h"

namespace kirsch {

// Reads the lines of one kernel, of which the head alone may have line breaks, without comments. Sizes may
// have no names here.
//
//   kernel NAME(x: TYPE, ...) [-> TYPE | -> (TYPE, ...)]:
//   v = EXPRESSION                            any number of times
//   return EXPRESSION                         last; or return NAME, NAME, ...
//
// Errors are InvalidArgument, one line, with the place.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source);

// Reads the head up to its sizes. The rest of it is read with each member, as types depend on the sizes.
absl::StatusOr<KernelHead> ParseKernelHead(const Word& line, std::string_view source);

// Reads the kernel with these values for its size names: for those of KernelHead::sizes in their order, then
// for those of KernelHead::ties. The latter need not be the sums that they are for members. The result is
// called as the family is.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source,
                                 absl::Span<const uint32_t> values);

// The finite number that is all of `text`; else nothing.
std::optional<float> ParseFinite(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_GRAPH_PARSER_H_
