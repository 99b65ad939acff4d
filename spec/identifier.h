// C identifiers.
#ifndef KIRSCH_SPEC_IDENTIFIER_H_
#define KIRSCH_SPEC_IDENTIFIER_H_

#include <string>
#include <string_view>

namespace kirsch {

// Letters, digits and underscores, no digit first.
bool IsIdentifier(std::string_view text);

// `text` with what no identifier may have replaced, "matmul_f32_1to64x8x8_rhs_col"; still one digit may be
// first.
std::string IdentifierOf(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_IDENTIFIER_H_
