// SPDX-License-Identifier: Apache-2.0
// Builds strings from pieces of any kind, whichever string_view class Abseil was built with.
//
// Debian's Abseil has a string_view of its own, and std::string_view does not convert to it. Calls of
// absl::StrCat with a std::string_view would not compile there. Everything in Kirsch therefore calls the
// functions below:
//
//   Cat("v", 3, "=", name)      absl::StrCat
//   Append(&text, " ", name)    absl::StrAppend
//   Join(names, "|")            absl::StrJoin; also of what a function, or a member, makes of each element
#ifndef KIRSCH_SPEC_TEXT_CAT_H_
#define KIRSCH_SPEC_TEXT_CAT_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace kirsch {

// The same bytes for a function of Abseil. The text must outlive the result, as with any view.
inline absl::string_view ForAbsl(std::string_view text) { return {text.data(), text.size()}; }

// A string_view becomes Abseil's. Anything else passes through by reference, without a copy.
template <typename Piece>
decltype(auto) PieceForAbsl(const Piece& piece) {
  if constexpr (std::is_same_v<Piece, std::string_view>)
    return ForAbsl(piece);
  else
    return (piece);
}

// Pieces may be strings, views, characters, and numbers: all that absl::StrCat takes.
template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  return absl::StrCat(PieceForAbsl(pieces)...);
}

// Adds the pieces at the end of `text`. No piece may be a part of `text` itself, as absl::StrAppend demands.
template <typename... Pieces>
void Append(std::string* text, const Pieces&... pieces) {
  absl::StrAppend(text, PieceForAbsl(pieces)...);
}

// Adds all lines of `lines`, each behind `indent`. The last one may lack its line break; it gets one.
inline void AppendIndented(std::string_view lines, std::string_view indent, std::string* text) {
  for (size_t at = 0; at < lines.size();) {
    const std::string_view line = lines.substr(at, lines.substr(at).find('\n'));
    Append(text, indent, line, "\n");
    at += line.size() + 1;
  }
}

// The pieces in their order, with `separator` between any two. Elements may be numbers, too: Join({1, 2},
// ",") is "1,2". `text_of`: what stands for an element, if it is no text: Join(graph.results, ", ",
// &GraphResult::name).
template <typename Pieces, typename TextOf = std::identity>
std::string Join(const Pieces& pieces, std::string_view separator, TextOf text_of = {}) {
  std::string text;
  bool first = true;
  for (const auto& piece : pieces) {
    if (!first) Append(&text, separator);
    Append(&text, std::invoke(text_of, piece));
    first = false;
  }
  return text;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_CAT_H_
