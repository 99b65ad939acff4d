// SPDX-License-Identifier: Apache-2.0
#include "search/solver/residency.h"

#include <algorithm>

#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// Of many names the first ones.
std::string FirstNames(absl::Span<const std::string> names) {
  constexpr size_t kMostNamed = 12;
  return Cat(Join(names.subspan(0, kMostNamed), ", "), names.size() > kMostNamed ? ", ..." : "");
}

}  // namespace

absl::StatusOr<Residency> ParseResidency(std::string_view text, std::string_view source,
                                         absl::Span<const std::string> names) {
  uint64_t in_ram = 0;
  for (const Word& word : Split({text, {}}, ',')) {
    const auto name = std::ranges::find(names, word.text);
    if (name == names.end())
      return ExpectedAt(source, word, Cat("one of the operands ", FirstNames(names)),
                        DidYouMean(word.text, names));
    // As in InRam: numbers from 63 on share a bit.
    if (name - names.begin() >= 63)
      return ExpectedAt(source, word, Cat("one of the first 63 operands, up to ", names[62]));
    const uint64_t bit = uint64_t{1} << (name - names.begin());
    if ((in_ram & bit) != 0) return ExpectedAt(source, word, "each operand once");
    in_ram |= bit;
  }
  return Residency(in_ram);
}

}  // namespace kirsch
