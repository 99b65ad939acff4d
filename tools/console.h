// SPDX-License-Identifier: Apache-2.0
// Shows a synthesis to people at a terminal: progress and summaries on standard error. Ctrl-C stops searches.
#ifndef KIRSCH_TOOLS_CONSOLE_H_
#define KIRSCH_TOOLS_CONSOLE_H_

#include "synthesis/observer.h"

namespace kirsch {

// The process has one, as it has one standard error and one handler of signals.
Observer& Console();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_CONSOLE_H_
