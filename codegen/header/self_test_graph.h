// The self-test of a graph's function, as C code. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SELF_TEST_GRAPH_H_
#define KIRSCH_CODEGEN_HEADER_SELF_TEST_GRAPH_H_

#include <string>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

// Types of the parameters of a graph's function, in the kernel's order.
std::vector<Dtype> ParameterTypes(const HeaderFunction& function);

// What the next one calls; nothing if no function of the file is a graph's.
std::string GraphHelpersText(const HeaderFile& file);

// NAME_check_all, which compares the samples of every kernel, in shares of several threads one after the
// other if the function takes any, phase by phase.
std::string GraphCheckText(const HeaderFile& file, const HeaderFunction& function);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SELF_TEST_GRAPH_H_
