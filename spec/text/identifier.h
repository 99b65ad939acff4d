// SPDX-License-Identifier: Apache-2.0
// Tells which names a generated function may have, in C and in C++.
//
// A kernel's name comes from the user, or is made from the text of its spec. It ends up in a header among the
// names of the C library, of intrinsics and of the header's own code. A name that collides with one of those
// is refused when the text is read; else the user's compiler would complain about code that the user did not
// write.
#ifndef KIRSCH_SPEC_TEXT_IDENTIFIER_H_
#define KIRSCH_SPEC_TEXT_IDENTIFIER_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace kirsch {

// True if `text` may name a value in the kernel language: letters, digits and underscores, beginning with a
// letter. It is no keyword, and no macro or type of C's headers. Names that begin with an underscore are the
// compiler's, the library's and the intrinsics'.
bool IsIdentifier(std::string_view text);

// True if `text` may name a kernel: an identifier for which neither a header's own code nor C's library has
// another use. "n" is an identifier, but no kernel's name: code in headers has variables that are called so.
bool IsKernelName(std::string_view text);

// The suffixes of the functions that the code of a kernel NAME has besides NAME itself: NAME_supported and so
// on. Two kernels of one file must not collide through them, so "f" and "f_pack" cannot both be kernels.
absl::Span<const std::string_view> GeneratedSuffixes();

// Replaces every character that an identifier cannot have by an underscore, and ".." by "to":
//
//   "matmul f32 1..64x8x8 rhs=col"  ->  "matmul_f32_1to64x8x8_rhs_col"
//
// The result is an identifier unless its first character is a digit, or it is a keyword.
std::string MakeIdentifier(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_IDENTIFIER_H_
