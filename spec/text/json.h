// SPDX-License-Identifier: Apache-2.0
// Parses JSON into values that know where they stand in the text, so that a message about a wrong value can
// give its line and column.
//
// nlohmann's own values lose their place. They serve for output (json_text.h); this is for files that users
// edit: targets and calibrations.
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

  // Which of the members below count; the others have their defaults.
  Kind kind = Kind::kNull;
  TextPosition position;
  std::string key;  // of a member of an object
  TextPosition key_position;
  bool boolean = false;             // kBool
  double number = 0;                // kNumber
  std::string text;                 // kString; kNumber as written
  std::vector<JsonValue> children;  // elements of a kArray, members of a kObject in the order of the text

  // The member `key` of a kObject, or nullptr. It points into this value and lives as long.
  const JsonValue* Find(std::string_view key) const;
  // Says what the value is, for the end of a message: "null", "the string 'x'", "an object", or a number as
  // written.
  std::string Describe() const;
};

// Returns InvalidArgument "<file>:<line>:<column>: expected <expected>, got <value>", with the place of
// `value`.
absl::Status ExpectedAt(std::string_view file, const JsonValue& value, std::string_view expected);

// Parses `text`; `file` is what errors call it. Any text is safe to pass. Two things are refused besides
// malformed JSON. A key given twice in one object is an error, as one of its values would be lost silently.
// More than 64 levels of nesting are one, too.
absl::StatusOr<JsonValue> ParseJson(std::string_view text, std::string_view file);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_JSON_H_
