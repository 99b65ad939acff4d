// SPDX-License-Identifier: Apache-2.0
// The parts of self-tests, as C code. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_

#include <string>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

// What the epilogue takes: memory that is filled with small integers.
struct ArgumentsText {
  std::string alloc, check, fill, free;
};
ArgumentsText MakeArgumentsText(const HeaderMember& member);

// `sum` becomes what is to be stored. Products and sums of two floats are exact in double, as far as these
// values go, and are rounded as the kernel does; of functions, `most` is how large values were.
std::string EpilogueText(const HeaderMember& member);

// Is the stored element, as a double `got`, wrong?
std::string DiffersText(const HeaderMember& member);

// The functions that these texts call.
std::string FunctionsText(const HeaderFile& file);

// Types of the parameters of a graph's function, in the kernel's order.
std::vector<Dtype> ParameterTypes(const HeaderFunction& function);

// What GraphCheckText calls; nothing if no function of the file is a graph's.
std::string GraphHelpersText(const HeaderFile& file);

// NAME_check_all, which compares the samples of each member that has some, in shares of several threads one
// after the other if the function takes any, phase by phase.
std::string GraphCheckText(const HeaderFile& file, const HeaderFunction& function);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_
