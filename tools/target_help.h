// SPDX-License-Identifier: Apache-2.0
// What a target file can say, from the tables of keys that its reader has.
#ifndef KIRSCH_TOOLS_TARGET_HELP_H_
#define KIRSCH_TOOLS_TARGET_HELP_H_

#include <string>

namespace kirsch {

// Each key with its default and the range it may have, and the known features.
std::string TargetHelp();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TARGET_HELP_H_
