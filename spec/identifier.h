// Identifiers of C and C++.
#ifndef KIRSCH_SPEC_IDENTIFIER_H_
#define KIRSCH_SPEC_IDENTIFIER_H_

#include <string>
#include <string_view>

namespace kirsch {

// Letters, digits and underscores, no digit first; no keyword.
bool IsIdentifier(std::string_view text);

// An identifier that a header has no other use for.
bool IsKernelName(std::string_view text);

// `text` with what no identifier may have replaced, "matmul_f32_1to64x8x8_rhs_col"; still one digit may be
// first, or it may be a keyword.
std::string IdentifierOf(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_IDENTIFIER_H_
