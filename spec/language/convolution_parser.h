// SPDX-License-Identifier: Apache-2.0
// Text to convolutions. The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/shorthand_words.h"
#include "spec/text/text.h"

namespace kirsch {

// `words`: what follows "conv2d". It is a spec where nothing is padded, there is one group and, of nchw, one
// image; it is a graph where it is of f32, and neither accumulate nor fixed-order is asked for.
absl::StatusOr<ShorthandKernel> ParseConvolution(ShorthandWords& words);

// One number for all sides, or those of the top, left, bottom and right.
absl::StatusOr<Padding> ParsePadding(std::string_view source, absl::Span<const Word> sides);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_
