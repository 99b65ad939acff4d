// SPDX-License-Identifier: Apache-2.0
#include "page/page.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "page/assets.h"
#include "page/chart.h"

namespace kirsch {
namespace {

// A level of boxes is kRow pixels below the one above it. The style sheet gives boxes 26, so 2 stay between.
// A box whose share of the width is below kLabelled shows no label; screen readers get the labels of all.
constexpr int kRow = 28;            // pixels
constexpr double kLabelled = 0.02;  // narrower boxes have no room for a label

// The facts of a box, which the script copies into the panel. In a <template> the browser does not show them.
std::string FactsHtml(const IcicleBox& box) {
  std::string html = absl::StrFormat("<template><h4>%s</h4><dl>", Escaped(box.label));
  for (const auto& [name, value] : box.facts)
    absl::StrAppendFormat(&html, "<dt>%s</dt><dd>%s</dd>", Escaped(name), Escaped(value));
  return html + "</dl></template>\n";
}

}  // namespace

std::string IcicleHtml(const std::vector<IcicleBox>& boxes) {
  std::string html, facts;
  int deepest = 0;
  for (const IcicleBox& box : boxes) {
    if (!(box.share > 0)) continue;
    deepest = std::max(deepest, box.depth);
    // Boxes are placed in shares of the width, so they fit a page of any width, and a label keeps its size.
    absl::StrAppendFormat(&html,
                          "<button type=\"button\" class=\"box b%d%s\" aria-pressed=\"false\" "
                          "style=\"left:%.4f%%;width:%.4f%%;top:%dpx\" aria-label=\"%s\">%s</button>\n",
                          box.colour % 8, box.share < kLabelled ? " thin" : "", 100 * box.start,
                          100 * box.share, kRow * box.depth, Escaped(box.label),
                          box.share < kLabelled ? "" : Escaped(box.label));
    // The script finds the facts of a box by its place, so each box has one <template>, in the same order.
    facts += FactsHtml(box);
  }
  return absl::StrFormat(
      // The panel follows the icicle at once: the script takes the next element for it.
      "<div class=\"icicle\" style=\"height:%dpx\">\n%s%s</div>\n<div class=\"details\" "
      "aria-live=\"polite\"></div>\n",
      kRow * (deepest + 1), html, facts);
}

std::string TableHtml(const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    const char* const tag = row == 0 ? "th" : "td";
    html += "<tr>";
    for (const std::string& cell : rows[row])
      absl::StrAppendFormat(&html, "<%s>%s</%s>", tag, Escaped(cell), tag);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string PageHtml(std::string_view title, std::string_view body) {
  // Styles and script are our own and hold no text of others, so they go in as they are.
  return absl::StrFormat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n"
      "<style>\n%s%s</style>\n</head>\n<body>\n%s<script>\n%s</script>\n</body>\n</html>\n",
      Escaped(title), kChartStyle, kPageStyle, body, kPageScript);
}

}  // namespace kirsch
