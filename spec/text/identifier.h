// SPDX-License-Identifier: Apache-2.0
// Identifiers of C and C++.
#ifndef KIRSCH_SPEC_TEXT_IDENTIFIER_H_
#define KIRSCH_SPEC_TEXT_IDENTIFIER_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace kirsch {

// Letters, digits and underscores, no digit and no underscore first (such names are the compiler's, the
// library's and the intrinsics'); no keyword, and no macro or type of C's headers.
bool IsIdentifier(std::string_view text);

// An identifier that neither a header nor C's library has another use for.
bool IsKernelName(std::string_view text);

// What the code of a kernel NAME calls other functions of its file, besides NAME: NAME_supported and so on.
absl::Span<const std::string_view> GeneratedSuffixes();

// `text` with what no identifier may have replaced, "matmul_f32_1to64x8x8_rhs_col"; still one digit may be
// first, or it may be a keyword.
std::string MakeIdentifier(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_IDENTIFIER_H_
