// SPDX-License-Identifier: Apache-2.0
// Reads kernels in the kernel language as graphs. The grammar is in docs/spec.md.
//
// Types and shapes are inferred while a kernel is read, so that an error has the place of the operation that
// it is about.
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

// Reads the lines of one kernel, of which the head alone may have line breaks, without comments. Sizes may
// have no names here.
//
//   kernel NAME(x: TYPE, ...) [-> TYPE | -> (TYPE, ...)]:
//   v = EXPRESSION                            any number of times
//   return EXPRESSION                         last; or return NAME, NAME, ...
//
// Errors are InvalidArgument, one line, with the place.
absl::StatusOr<Graph> ParseGraph(absl::Span<const Word> lines, std::string_view source);

// A kernel's name, and the sizes that have names: "kernel NAME[m = 1..64 mixture=1:0.7,64:0.3, n =
// 8|16, t = m + n](...".
struct KernelHead {
  std::string name;
  std::vector<VaryingSize> sizes;
  std::vector<TiedSize> ties = {};  // sums of `sizes`
  // For each size, how often its values are asked for; empty: each as often as the others.
  // `mixture_at` is where the first mixture stands: a mixture that means nothing is an error there.
  std::vector<std::vector<SizeShare>> mixtures = {};
  std::optional<TextPosition> mixture_at = {};
};
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
