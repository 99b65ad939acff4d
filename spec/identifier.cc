#include "spec/identifier.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "spec/cat.h"

namespace kirsch {
namespace {

// Keywords of C99 and of C++17.
constexpr std::string_view kKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class "
    "compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "restrict return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile "
    "wchar_t while xor xor_eq";

// Names that a header with its self-test has for something else.
constexpr std::string_view kNamesInHeaders =
    "NULL at batch before block exit free i int16_t int32_t int8_t k lhs ls m main malloc memcpy memset "
    "n n_threads on os out packed phase printf problem problems rhs rs samples scratch scratch_memory "
    "shared shared_memory size_t step thread uint16_t uint32_t uint64_t uint8_t work wrong";

bool IsOneOf(std::string_view words, std::string_view word) {
  return Cat(" ", words, " ").find(Cat(" ", word, " ")) != std::string::npos;
}

bool IsIdentifierCharacter(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), IsIdentifierCharacter) && !IsOneOf(kKeywords, text);
}

bool IsKernelName(std::string_view text) { return IsIdentifier(text) && !IsOneOf(kNamesInHeaders, text); }

std::string IdentifierOf(std::string_view text) {
  std::string name = absl::StrReplaceAll(ForAbsl(text), {{"..", "to"}});
  for (char& c : name)
    if (!IsIdentifierCharacter(c)) c = '_';
  return name;
}

}  // namespace kirsch
