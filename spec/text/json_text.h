// SPDX-License-Identifier: Apache-2.0
// JSON as text that can always be written.
#ifndef KIRSCH_SPEC_TEXT_JSON_TEXT_H_
#define KIRSCH_SPEC_TEXT_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace kirsch {

// Of a value of any of nlohmann's classes. Bytes that are not UTF-8, as paths may have, become U+FFFD.
// `indent`: -1 for one line.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_JSON_TEXT_H_
