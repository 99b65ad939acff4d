// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of specs, and of families of their sizes.
#include <cstddef>
#include <cstdint>

#include "spec/language/family.h"
#include "spec/language/parser.h"
#include "tests/fuzz/fuzz.h"

using kirsch::testing::Require;
using kirsch::testing::RequireOneLine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = kirsch::ParseSpec(text);
  RequireOneLine(spec.status(), "spec:");
  if (spec.ok()) {
    const auto again = kirsch::ParseSpec(spec->text);
    Require(again.ok() && *again == *spec, "the spec that its text is", spec->text);
  }
  const auto family = kirsch::ParseFamily(text);
  RequireOneLine(family.status(), "spec:");
  if (family.ok()) {
    const auto again = kirsch::ParseFamily(family->text());
    Require(again.ok() && again->text() == family->text(), "the family that its text is", family->text());
    Require(family->member(family->count() - 1).text == again->member(again->count() - 1).text,
            "the same members", family->text());
  }
  return 0;
}
