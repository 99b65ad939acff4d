// SPDX-License-Identifier: Apache-2.0
// Members of JSON objects, read one after the other by code that looks at errors only once, at its end.
#ifndef KIRSCH_SPEC_TEXT_JSON_MEMBERS_H_
#define KIRSCH_SPEC_TEXT_JSON_MEMBERS_H_

#include <string_view>

#include "absl/status/status.h"
#include "spec/text/json.h"

namespace kirsch {

// The first error stays, and all that is read after it is empty. A reader of a file derives from this. Not
// thread-safe.
class JsonMembers {
 protected:
  // `file` is what errors call it, and outlives this.
  explicit JsonMembers(std::string_view file) : file_(file) {}

  // The member of that kind; `what` says what it is to be.
  const JsonValue& Member(const JsonValue& object, std::string_view key, JsonValue::Kind kind,
                          std::string_view what);

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
