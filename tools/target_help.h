// SPDX-License-Identifier: Apache-2.0
// Prints what a target file can say: `kirsch help TARGET`. It is made from the tables of keys that the reader
// of target files has.
#ifndef KIRSCH_TOOLS_TARGET_HELP_H_
#define KIRSCH_TOOLS_TARGET_HELP_H_

#include <string>

namespace kirsch {

// Each key with its default and its range, and the known features:
//     ghz                             3                         0.1 to 10
//     cores                           1                         1 to 4096
std::string TargetHelp();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_TARGET_HELP_H_
