// The parts of an emitted file that speak of its operands as the user sees them. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_SELF_TEST_H_
#define KIRSCH_CODEGEN_SELF_TEST_H_

#include <string>
#include <vector>

#include "codegen/header_file.h"
#include "spec/family.h"
#include "spec/spec.h"

namespace kirsch {

// A root spec, `swapped` as in HeaderOptions.
struct SelfTestProblem {
  Spec spec;
  bool swapped = false;
};

// The sizes of the problem as the user states them.
UserSizes SizesOfUser(const SelfTestProblem& problem);

// What the operands hold, one line each.
std::string OperandsText(const Spec& spec, bool swapped);

struct SelfTest {
  const HeaderFile* file = nullptr;       // its name, features, scratch memory and threads
  std::vector<SelfTestProblem> problems;  // what the file's function is to compute
  std::vector<int> dims;                  // the dims whose sizes the function takes; it is a dispatcher then
  std::vector<UserSizes> refused;         // sizes that the dispatcher does not serve
};

// C code: a main, under a macro, that compares the function with a naive loop on small integers.
std::string PrintSelfTest(const SelfTest& test);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SELF_TEST_H_
