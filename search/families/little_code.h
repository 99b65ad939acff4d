// SPDX-License-Identifier: Apache-2.0
// Leaves out what the programs of a region can do without, as each register tile is code of its own.
#ifndef KIRSCH_SEARCH_FAMILIES_LITTLE_CODE_H_
#define KIRSCH_SEARCH_FAMILIES_LITTLE_CODE_H_

#include <functional>

#include "search/families/symbolic_schedule.h"

namespace kirsch {

// The dims that vary among the region's members.
struct VaryingDims {
  bool rows = false, columns = false;
};

// Tries choices of less and less code, beginning with `choice`: no narrower vectors for the last columns, no
// least tail, and then register tiles of fewer heights. The tallest stays; of the others the taller go first,
// as they are the most code.
//
// `keep` makes a rule with a choice. It returns true if that serves all members, and keeps it then. `heights`
// returns the heights of register tiles that the members' programs have by the rule kept last.
void LeaveOutCode(const VaryingDims& varying, SymbolicScheduleOptions choice,
                  const std::function<bool(const SymbolicScheduleOptions&)>& keep,
                  const std::function<TileHeights()>& heights);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_LITTLE_CODE_H_
