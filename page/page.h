// SPDX-License-Identifier: Apache-2.0
// Self-contained HTML pages: no network, no other file. Thread-safe: pure functions.
#ifndef KIRSCH_PAGE_PAGE_H_
#define KIRSCH_PAGE_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// A box of an icicle: a part of the whole, below what it is a part of. All text is escaped.
struct IcicleBox {
  int depth = 0;
  double start = 0, share = 1;  // of the whole
  int colour = 0;               // 0 to 7
  std::string label;
  std::vector<std::pair<std::string, std::string>> facts;  // what a panel says of it: names and values
};

// Boxes over a panel that shows what is known of the one that is pointed at, focused or tapped. Those of no
// width are left out.
std::string IcicleHtml(const std::vector<IcicleBox>& boxes);

// The cells of a table, the first row being its head.
std::string TableHtml(const std::vector<std::vector<std::string>>& rows);

// A whole page; `body` is HTML.
std::string PageHtml(std::string_view title, std::string_view body);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_PAGE_H_
