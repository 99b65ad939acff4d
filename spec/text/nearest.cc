// SPDX-License-Identifier: Apache-2.0
#include "spec/text/nearest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {

size_t EditDistance(std::string_view a, std::string_view b) {
  // Row i of the table of distances has those of the first i characters of `a` to each beginning of `b`.
  // Three rows are enough: `row` is number i, `last` number i - 1. `before`, number i - 2, is where a swap of
  // two neighbours comes from.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      // Drop a character of `a`, insert one of `b`, or replace one, which costs nothing if they are the same.
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string HintAmong(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr size_t kShort = 3, kLong = 6;
  // The more characters a word has, the less likely it is near another one by chance.
  const size_t most = word.size() < kShort ? 0 : word.size() < kLong ? 1 : 2;
  const std::string lower = absl::AsciiStrToLower(ForAbsl(word));
  std::string_view nearest;
  size_t least = most + 1;
  for (std::string_view name : known) {
    // Each character more or less is an edit, so such a name is too far off: its distance need not be
    // computed.
    if (name.size() > word.size() + most || word.size() > name.size() + most) continue;
    const size_t distance = EditDistance(lower, absl::AsciiStrToLower(ForAbsl(name)));
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : Cat("; did you mean ", Quoted(nearest), "?");
}

}  // namespace kirsch
