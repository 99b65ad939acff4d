// SPDX-License-Identifier: Apache-2.0
// Reads the shorthand of a convolution. The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_

#include "absl/status/statusor.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/shorthand_words.h"
#include "spec/operation.h"

namespace kirsch {

// Reads what follows the operation's name in `words`. The result has a form of a kernel, or both:
//   - a spec, where nothing is padded, there is one group and, of nchw, one image;
//   - a graph, where it is of f32, and neither accumulate nor fixed-order is asked for.
// A form that is not there is an error which says why. If neither is there, the result is the error.
absl::StatusOr<ShorthandKernel> ParseConvolution(Operation op, ShorthandWords& words);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_PARSER_H_
