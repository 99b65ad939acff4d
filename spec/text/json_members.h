// SPDX-License-Identifier: Apache-2.0
// Reads the members of JSON objects one after the other, for code that looks at errors only once, at its end.
//
// Without it, each member read would be followed by a check and a return. With it, a reader is a list of
// members:
//
//   result.name = Member(object, "name", Kind::kString, "a name").text;
//   result.trips = Member(object, "trips", Kind::kNumber, "a number").number;
//   return ok() ? result : status();
#ifndef KIRSCH_SPEC_TEXT_JSON_MEMBERS_H_
#define KIRSCH_SPEC_TEXT_JSON_MEMBERS_H_

#include <string_view>

#include "absl/status/status.h"
#include "spec/text/json.h"

namespace kirsch {

// The base class of a file's reader. The first error stays; whatever is read after it is an empty value, so
// reading on is harmless. Not thread-safe.
class JsonMembers {
 protected:
  // `file` is what errors call it, and outlives this.
  explicit JsonMembers(std::string_view file) : file_(file) {}

  // The member `key` of `object`, of that kind. If it is missing or of another kind, this is an error and an
  // empty value; `what` says what the member was to be, for the message.
  const JsonValue& Member(const JsonValue& object, std::string_view key, JsonValue::Kind kind,
                          std::string_view what);

  // Makes `value` the error, unless there is one already.
  void Refuse(const JsonValue& value, std::string_view expected) {
    if (status_.ok()) status_ = ExpectedAt(file_, value, expected);
  }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  const std::string_view file_;
  absl::Status status_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_JSON_MEMBERS_H_
