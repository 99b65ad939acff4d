// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of a table's pages and keys, as they are when SQLite and zstd have read them. (Damage to
// a whole file is recall_test's.)
#include <cstddef>
#include <cstdint>

#include "memo/page.h"
#include "memo/page_key.h"
#include "tests/fuzz/fuzz.h"

using kirsch::testing::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto page = kirsch::Page::Decode(bytes); page.ok()) {
    const auto again = kirsch::Page::Decode(page->Encode());
    Require(again.ok() && again->boxes().size() == page->boxes().size(), "the page that its bytes are",
            "another");
    for (const kirsch::Page::Box& box : page->boxes()) {
      const kirsch::CoordinateList lowest(box.low.begin(), box.low.begin() + page->coordinates());
      Require(page->Find(lowest).has_value(), "the lowest point of each box", "none");
    }
  }
  if (const auto key = kirsch::PageKey::Decode(bytes); key.ok()) {
    const auto again = kirsch::PageKey::Decode(key->Encode());
    Require(again.ok() && *again == *key, "the key that its bytes are", "another");
  }
  return 0;
}
