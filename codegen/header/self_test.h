// SPDX-License-Identifier: Apache-2.0
// The self-test of an emitted file. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_H_

#include <string>

#include "codegen/header/header_file.h"

namespace kirsch {

// The macro under which the self-test of a file of this name is compiled.
std::string SelfTestMacro(const std::string& file_name);

// C code: a main, under that macro. It compares every function, in each variant that the CPU can run, with a
// naive loop on small integers, or a graph's with samples of the result. It asks for sizes just outside of
// the ranges, too. It ends with 0, or 1 if something is wrong, or 2 if nothing is but the CPU can run no
// variant of some function.
std::string PrintSelfTest(const HeaderFile& file);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_H_
