// SPDX-License-Identifier: Apache-2.0
// The words of tables, as messages list them: a test that states a whole message needs no list of its own.
#ifndef KIRSCH_TESTS_TESTING_TABLE_WORDS_H_
#define KIRSCH_TESTS_TESTING_TABLE_WORDS_H_

#include <string>
#include <string_view>

#include "spec/dtype.h"
#include "spec/text/cat.h"

namespace kirsch::testing {

// Element types that callers may have: "f32|bf16|...".
inline std::string TypeWords(std::string_view between) {
  std::string words;
  for (const DtypeInfo& info : kDtypes)
    if (IsOfCallers(info.dtype)) Append(&words, words.empty() ? "" : between, info.name);
  return words;
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TABLE_WORDS_H_
