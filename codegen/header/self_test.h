// SPDX-License-Identifier: Apache-2.0
// Prints the self-test of an emitted file, so that a user can check it on his own machine, with his own
// compiler. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// Returns the macro under which the self-test of a file of this name is compiled: MATMUL_SELF_TEST of
// "matmul".
std::string SelfTestMacro(const std::string& file_name);

// Returns C code, a main under that macro. It compares every function, in each variant that the CPU can run,
// with a naive loop on small integers. Functions of graphs are compared with samples of the result. It asks
// for sizes just outside of the ranges, too. Its status:
//   0  all is right
//   1  something is wrong
//   2  nothing is wrong, but the CPU can run no variant of some function
std::string PrintSelfTest(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_H_
