// SPDX-License-Identifier: Apache-2.0
// Names the groups in which --help lists a command's options, so that all commands have the same ones. Also
// keeps former names of options working.
#ifndef KIRSCH_TOOLS_OPTION_GROUPS_H_
#define KIRSCH_TOOLS_OPTION_GROUPS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "spec/text/cat.h"
#include "tools/output.h"

namespace kirsch {

inline constexpr char kWhatGroup[] = "What";      // is computed
inline constexpr char kTargetGroup[] = "Target";  // the CPU, threads and caches it is for
inline constexpr char kSearchGroup[] = "Search";  // how its program is found
inline constexpr char kOutputGroup[] = "Output";  // what is written, and where
inline constexpr char kCheckGroup[] = "Check";    // what is held against what is known

// Puts the options that are added to `command` after this into the group.
inline void BeginGroup(CLI::App& command, const char* group) { command.option_defaults()->group(group); }

// Lets users call `option` by a former name, too. --help does not list that name, and a remark says the other
// one.
//   kirsch bench --plot r.svg ...   -->   as --svg r.svg, and in the end "kirsch: --plot is called --svg now"
inline void KeepOldName(CLI::App& command, const std::string& old_name, CLI::Option* option) {
  command
      // The value is handed on to `option`, whose own checks and callback then run.
      .add_option_function<std::string>(
          old_name,
          [old_name, option](const std::string& value) {
            RemarkAtEnd(Cat(old_name, " is called ", option->get_name(), " now"));
            option->add_result(value);
            option->run_callback();
          },
          "")
      ->group("");
}

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_OPTION_GROUPS_H_
