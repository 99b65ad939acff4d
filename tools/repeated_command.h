// SPDX-License-Identifier: Apache-2.0
// Writes the command that was given as one would type it again. It is in the head of generated files, so that
// they can be made anew.
#ifndef KIRSCH_TOOLS_REPEATED_COMMAND_H_
#define KIRSCH_TOOLS_REPEATED_COMMAND_H_

#include <string>

#include "tools/options.h"

namespace kirsch {

//   kirsch synth 'matmul f32 64x64x64' --target haswell
//
// It has the options that change the result, in the order in which they are defined, on one line. Of files it
// has only the names, so that the text is the same on any machine.
std::string RepeatedCommand(const Command& command);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REPEATED_COMMAND_H_
