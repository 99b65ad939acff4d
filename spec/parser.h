// Text to specs. The grammar of the shorthand is in spec/README.md.
#ifndef KIRSCH_SPEC_PARSER_H_
#define KIRSCH_SPEC_PARSER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/spec.h"

namespace kirsch {

struct ParsedSpec {
  Spec spec;         // the canonical root: all operands in RAM, one thread
  bool swapped;      // spec is the transposed problem, see spec/canonical.h
  std::string text;  // what was asked, in its shortest form

  friend bool operator==(const ParsedSpec&, const ParsedSpec&) = default;
};

// Reads a shorthand such as "matmul f32 64x64x64 rhs=col". Any text is safe to pass. An error is
// InvalidArgument, one line: "spec:<line>:<column>: expected <what>, got '<text>'".
absl::StatusOr<ParsedSpec> ParseSpec(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PARSER_H_
