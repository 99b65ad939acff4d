// kirsch target calibrate
#ifndef KIRSCH_TOOLS_CALIBRATE_COMMAND_H_
#define KIRSCH_TOOLS_CALIBRATE_COMMAND_H_

#include "tools/command.h"

namespace kirsch {

// Adds itself to `kirsch target`.
void AddCalibrateCommand(CLI::App& target_command, Run& run);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_CALIBRATE_COMMAND_H_
