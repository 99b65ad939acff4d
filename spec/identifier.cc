#include "spec/identifier.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "spec/cat.h"

namespace kirsch {
namespace {

bool IsIdentifierCharacter(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

}  // namespace

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), IsIdentifierCharacter);
}

std::string IdentifierOf(std::string_view text) {
  std::string name = absl::StrReplaceAll(ForAbsl(text), {{"..", "to"}});
  for (char& c : name)
    if (!IsIdentifierCharacter(c)) c = '_';
  return name;
}

}  // namespace kirsch
