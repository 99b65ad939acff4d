// Text to convolutions, and back. The grammar is in spec/README.md.
#ifndef KIRSCH_SPEC_CONVOLUTION_PARSER_H_
#define KIRSCH_SPEC_CONVOLUTION_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/parser.h"
#include "spec/text.h"

namespace kirsch {

// `words`: those of the whole shorthand, with the empty word at the end. Errors are as of ParseSpec.
absl::StatusOr<ParsedSpec> ParseConvolution(std::string_view source, absl::Span<const Word> words);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_CONVOLUTION_PARSER_H_
