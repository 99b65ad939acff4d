// SPDX-License-Identifier: Apache-2.0
// JSON whose values know where they stand in the text, so that what is wrong with one can be said with its
// place.
#ifndef KIRSCH_SPEC_TEXT_JSON_H_
#define KIRSCH_SPEC_TEXT_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/text/text.h"

namespace kirsch {

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  TextPosition position;
  std::string key;  // of a member of an object
  TextPosition key_position;
  bool boolean = false;             // kBool
  double number = 0;                // kNumber
  std::string text;                 // kString; kNumber as written
  std::vector<JsonValue> children;  // elements of a kArray, members of a kObject in the order of the text

  // The member `key` of a kObject, or nullptr.
  const JsonValue* Find(std::string_view key) const;
  // For a message: "a string", "an object", or a number as written.
  std::string Describe() const;
};

// InvalidArgument "<file>:<line>:<column>: expected <expected>, got <value>".
absl::Status ExpectedAt(std::string_view file, const JsonValue& value, std::string_view expected);

// Parses `text`; `file` is what errors call it. Any text is safe to pass; refused besides malformed JSON: an
// object with a key given twice, and more than 64 levels of nesting.
absl::StatusOr<JsonValue> ParseJson(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_JSON_H_
