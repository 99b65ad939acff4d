// SPDX-License-Identifier: Apache-2.0
// Gives the present day and time as text, for files that record when they were written. Both are in UTC, so
// that they do not depend on the machine's time zone.
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
