// SPDX-License-Identifier: Apache-2.0
#include "spec/text/json_members.h"

#include "spec/text/cat.h"

namespace kirsch {

const JsonValue& JsonMembers::Member(const JsonValue& object, std::string_view key, JsonValue::Kind kind,
                                     std::string_view what) {
  // Lives forever, so that callers may keep the reference. It is no object, so reading its members gives it
  // again.
  static const JsonValue kNothing;
  if (!ok()) return kNothing;
  const JsonValue* member = object.kind == JsonValue::Kind::kObject ? object.Find(key) : nullptr;
  if (member != nullptr && member->kind == kind) return *member;
  // A missing member has no place of its own: the message has that of its object.
  if (member == nullptr)
    Refuse(object, Cat("an object with \"", key, "\""));
  else
    Refuse(*member, what);
  return kNothing;
}

}  // namespace kirsch
