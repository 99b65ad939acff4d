// SPDX-License-Identifier: Apache-2.0
// Quantities as people read them.
#ifndef KIRSCH_SPEC_TEXT_QUANTITY_H_
#define KIRSCH_SPEC_TEXT_QUANTITY_H_

#include <string>
#include <string_view>

namespace kirsch {

// "2.331 ms": four digits, and the unit from ns to s that suits.
std::string SecondsText(double seconds);

// Of 1e9 operations a second, of integers or of floats.
inline std::string_view RateUnit(bool integers) { return integers ? "GOP/s" : "GFLOP/s"; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_QUANTITY_H_
