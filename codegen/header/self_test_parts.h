// SPDX-License-Identifier: Apache-2.0
// Prints parts of self-tests as C code: epilogues (self_test_epilogue.cc) and graphs (self_test_graph.cc).
// $-words in the texts are replaced by self_test.cc. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_

#include <string>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

// Statements for the epilogue's operands, memory that is filled with small integers: arg1, arg2, ... in the
// order of the steps. `check` is part of the condition that memory ran out.
struct ArgumentsText {
  std::string alloc, check, fill, free;
};
ArgumentsText MakeArgumentsText(const HeaderMember& member);

// Returns statements that make of `sum` the number that is to be stored. Products and sums of two floats are
// exact in double, as far as these values go, and are rounded as the kernel does. Functions are not rounded
// alike, so `most` keeps how large values were, for the tolerance.
std::string EpilogueText(const HeaderMember& member);

// Returns an expression: is the stored element wrong? `sum` is as EpilogueText left it.
std::string DiffersText(const HeaderMember& member);

// Returns the functions that these texts call, for all functions of the file.
std::string FunctionsText(const HeaderFile& file);

// Returns the types of the parameters of a graph's function, in the order of the text.
std::vector<Dtype> ParameterTypes(const HeaderFunction& function);

// Returns the types of its results, which are the last tensors.
std::vector<Dtype> ResultTypes(const HeaderFunction& function);

// Returns the functions that GraphCheckText calls, but for those that read elements; nothing if no function
// of the file is a graph's.
std::string GraphHelpersText(const HeaderFile& file);

// Returns NAME_check_all, which compares the samples of each member that has some. A function that takes
// threads is called as each of several, one after the other, phase by phase.
std::string GraphCheckText(const HeaderFile& file, const HeaderFunction& function);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_PARTS_H_
