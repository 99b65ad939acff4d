// What is said once a day: a file beside the tables has the day on which it was said last.
#ifndef KIRSCH_TOOLS_ONCE_A_DAY_H_
#define KIRSCH_TOOLS_ONCE_A_DAY_H_

#include <string>

namespace kirsch {

// Has `what`, a file's name, not been said today (UTC), as far as is known?
bool IsDueToday(const std::string& what);

// It has been, now. Where that can't be kept it is due again.
void KeepToday(const std::string& what);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_ONCE_A_DAY_H_
