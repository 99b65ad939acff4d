// SPDX-License-Identifier: Apache-2.0
// What a SPEC can say, for people: `kirsch help SPEC`.
#ifndef KIRSCH_TOOLS_SPEC_HELP_H_
#define KIRSCH_TOOLS_SPEC_HELP_H_

#include <string>

namespace kirsch {

// Operations, types, options and examples, made from the tables that parsers read: a new row of these is in
// the text by itself.
std::string SpecHelp();

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SPEC_HELP_H_
