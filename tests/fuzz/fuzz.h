// SPDX-License-Identifier: Apache-2.0
// What libFuzzer's targets require of a reader: any bytes give a value, or one line of explanation.
#ifndef KIRSCH_TESTS_FUZZ_FUZZ_H_
#define KIRSCH_TESTS_FUZZ_FUZZ_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace kirsch::testing {

// Aborts if it is not so: the fuzzer then writes its input to a file.
inline void Require(bool is_so, std::string_view expected, std::string_view got) {
  if (is_so) return;
  std::fprintf(stderr, "expected %.*s, got '%.*s'\n", static_cast<int>(expected.size()), expected.data(),
               static_cast<int>(got.size()), got.data());
  std::abort();
}

// An error is one line of printable characters, which begins with what the text is called.
inline void RequireOneLine(const absl::Status& status, std::string_view source) {
  if (status.ok()) return;
  const std::string message(status.message());
  Require(message.starts_with(source), "an error that begins with its place", message);
  Require(message.size() < 400, "a short error", message);
  for (const char c : message) Require(c >= ' ' && c <= '~', "printable characters", message);
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_FUZZ_FUZZ_H_
