// SPDX-License-Identifier: Apache-2.0
// Prints quantities as people read them, in the same way wherever a time or a rate is reported.
#ifndef KIRSCH_SPEC_TEXT_QUANTITY_H_
#define KIRSCH_SPEC_TEXT_QUANTITY_H_

#include <string>
#include <string_view>

namespace kirsch {

// "2.331 ms": four digits, and the largest unit from ns to s in which the number is 1 or more (ns: or less).
std::string SecondsText(double seconds);

// The unit of 1e9 operations a second: of integers they are no FLOP.
inline std::string_view RateUnit(bool integers) { return integers ? "GOP/s" : "GFLOP/s"; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_QUANTITY_H_
