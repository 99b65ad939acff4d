// SPDX-License-Identifier: Apache-2.0
// Writes self-contained HTML pages: they need no network and no other file. Thread-safe: pure functions.
#ifndef KIRSCH_PAGE_PAGE_H_
#define KIRSCH_PAGE_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// A box of an icicle: a part of the whole, below the box that it is a part of. All text is escaped.
//
// For example, boxes of depth 0, 1, 1 and starts 0, 0, 0.7 look like this:
//   | program                    |
//   | microkernel       | pack   |
struct IcicleBox {
  int depth = 0;
  double start = 0, share = 1;  // of the whole
  int colour = 0;               // 0 to 7
  std::string label;
  std::vector<std::pair<std::string, std::string>> facts;  // what a panel says of it: names and values
};

// Lays out boxes over a panel. The panel shows the facts of the box that is pointed at, focused or tapped.
// Boxes of no width are left out. Their order is that of the arrow keys; the panel begins with the first.
std::string IcicleHtml(const std::vector<IcicleBox>& boxes);

// Writes the cells of a table. The first row is its head. On a narrow screen the table scrolls sideways by
// itself, and the page does not.
std::string TableHtml(const std::vector<std::vector<std::string>>& rows);

// Writes a whole page. `body` is HTML, whose texts the caller has escaped; `title` is text.
std::string PageHtml(std::string_view title, std::string_view body);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_PAGE_H_
