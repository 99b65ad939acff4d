// SPDX-License-Identifier: Apache-2.0
// Runs cases that may end the process, each of which is told from the others all the same.
#ifndef KIRSCH_TESTS_TESTING_ISOLATED_H_
#define KIRSCH_TESTS_TESTING_ISOLATED_H_

#include <functional>
#include <string>
#include <vector>

namespace kirsch::testing {

struct IsolatedCase {
  bool died = false;
  std::string text;  // what the case returned; if it died, how, and what it had noted before
};

// Says what the case is about to do, in case that ends the process.
using Note = std::function<void(const std::string& text)>;

// Runs the cases 0 to count - 1, in their order, in a child process; where one dies, or takes more than
// `seconds` of the processor, in another from there on.
std::vector<IsolatedCase> RunIsolated(int count, unsigned seconds,
                                      const std::function<std::string(int number, const Note& note)>& run);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ISOLATED_H_
