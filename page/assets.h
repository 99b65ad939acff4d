// SPDX-License-Identifier: Apache-2.0
// The files of this folder that pages are made with; embedded by the build. Internal to page/.
#ifndef KIRSCH_PAGE_ASSETS_H_
#define KIRSCH_PAGE_ASSETS_H_

#include <string_view>

namespace kirsch {

extern const std::string_view kChartStyle, kPageStyle, kPageScript;

}  // namespace kirsch

#endif  // KIRSCH_PAGE_ASSETS_H_
