// Days.
#ifndef KIRSCH_SPEC_TEXT_DATE_H_
#define KIRSCH_SPEC_TEXT_DATE_H_

#include <string>

namespace kirsch {

// "2026-11-26", by UTC.
std::string Today();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_DATE_H_
