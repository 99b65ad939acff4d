// SPDX-License-Identifier: Apache-2.0
// Prints what a SPEC can say, for people: `kirsch help SPEC`.
#ifndef KIRSCH_TOOLS_SPEC_HELP_H_
#define KIRSCH_TOOLS_SPEC_HELP_H_

#include <string>

namespace kirsch {

// Operations, types, options and examples. They are made from the tables that parsers read, so a new row of a
// table is in the text by itself.
std::string SpecHelp();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SPEC_HELP_H_
