// SPDX-License-Identifier: Apache-2.0
// Strings from pieces. Debian's Abseil has a string_view of its own that std::string_view doesn't convert to;
// this is absl::StrCat for both.
#ifndef KIRSCH_SPEC_TEXT_CAT_H_
#define KIRSCH_SPEC_TEXT_CAT_H_

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace kirsch {

inline absl::string_view ForAbsl(std::string_view text) { return {text.data(), text.size()}; }

template <typename Piece>
decltype(auto) PieceForAbsl(const Piece& piece) {
  if constexpr (std::is_same_v<Piece, std::string_view>)
    return ForAbsl(piece);
  else
    return (piece);
}

// absl::StrCat.
template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  return absl::StrCat(PieceForAbsl(pieces)...);
}

// absl::StrAppend.
template <typename... Pieces>
void Append(std::string* text, const Pieces&... pieces) {
  absl::StrAppend(text, PieceForAbsl(pieces)...);
}

// absl::StrJoin.
template <typename Pieces>
std::string Join(const Pieces& pieces, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& piece : pieces) {
    if (!first) Append(&text, separator);
    Append(&text, piece);
    first = false;
  }
  return text;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_CAT_H_
