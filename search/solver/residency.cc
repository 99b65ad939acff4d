// SPDX-License-Identifier: Apache-2.0
#include "search/solver/residency.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/text.h"

namespace kirsch {

absl::StatusOr<Residency> ParseResidency(std::string_view text, std::string_view source,
                                         absl::Span<const std::string> names) {
  uint64_t in_ram = 0;
  for (const Word& word : Split({text, {}}, ',')) {
    const auto name = std::find(names.begin(), names.end(), word.text);
    if (name == names.end())
      return ExpectedAt(source, word, Cat("one of the operands ", absl::StrJoin(names, ", ")),
                        DidYouMean(word.text, names));
    // As in InRam: numbers from 63 on share a bit.
    const uint64_t bit = uint64_t{1} << std::min<int64_t>(name - names.begin(), 63);
    if ((in_ram & bit) != 0) return ExpectedAt(source, word, "each operand once");
    in_ram |= bit;
  }
  return Residency(in_ram);
}

}  // namespace kirsch
