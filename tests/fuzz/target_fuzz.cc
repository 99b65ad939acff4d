// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of target files.
#include <cstddef>
#include <cstdint>

#include "spec/target/target_json.h"
#include "tests/fuzz/fuzz.h"

using kirsch::testing::Require;
using kirsch::testing::RequireOneLine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = kirsch::ParseTarget(text, "t");
  RequireOneLine(file.status(), "t:");
  if (!file.ok()) return 0;
  const std::string printed = kirsch::PrintTarget(file->target);
  const auto again = kirsch::ParseTarget(printed, "t");
  Require(again.ok() && again->target == file->target, "the target that its text is", printed);
  return 0;
}
