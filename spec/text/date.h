// SPDX-License-Identifier: Apache-2.0
// Days and times, by UTC.
#ifndef KIRSCH_SPEC_TEXT_DATE_H_
#define KIRSCH_SPEC_TEXT_DATE_H_

#include <string>

namespace kirsch {

// "2026-11-26"
std::string Today();

// "2026-11-26T12:00:00Z"
std::string Now();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_DATE_H_
