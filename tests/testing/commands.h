// SPDX-License-Identifier: Apache-2.0
// What is installed where the tests run.
#ifndef KIRSCH_TESTS_TESTING_COMMANDS_H_
#define KIRSCH_TESTS_TESTING_COMMANDS_H_

#include <cstdlib>
#include <string>

#include "spec/text/cat.h"

namespace kirsch::testing {

inline bool HaveCommand(const std::string& command) {
  return std::system(Cat("command -v ", command, " > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_COMMANDS_H_
