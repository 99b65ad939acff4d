// SPDX-License-Identifier: Apache-2.0
// Gives the style sheets and the script of pages as text, so that a page can hold them and fetch nothing. The
// build embeds the files of this folder (assets.cc.in). Internal to page/.
#ifndef KIRSCH_PAGE_ASSETS_H_
#define KIRSCH_PAGE_ASSETS_H_

#include <string_view>

namespace kirsch {

// Document puts kChartStyle into charts that stand alone. PageHtml puts all three into a page.
extern const std::string_view kChartStyle, kPageStyle, kPageScript;

}  // namespace kirsch

#endif  // KIRSCH_PAGE_ASSETS_H_
