// SPDX-License-Identifier: Apache-2.0
// Writes JSON as text, whatever bytes its strings hold.
//
// By default, nlohmann's dump() throws on a string that is not UTF-8. Paths may hold any bytes.
#ifndef KIRSCH_SPEC_TEXT_JSON_TEXT_H_
#define KIRSCH_SPEC_TEXT_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace kirsch {

// Takes a value of any of nlohmann's classes. Bytes that are not UTF-8 become U+FFFD. `indent` is the number
// of blanks of a level; -1 writes all on one line.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_JSON_TEXT_H_
