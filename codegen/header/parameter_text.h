// SPDX-License-Identifier: Apache-2.0
// What a header's comment says of the parameters that a text declares: "f32[32,512]". Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_
#define KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_

#include <vector>

#include "codegen/header/header_file.h"
#include "spec/language/family.h"
#include "spec/language/graph_family.h"

namespace kirsch {

// Inputs in the order of the text, then out; none of a matmul's shorthand.
std::vector<HeaderParameter> ParametersOf(const SpecFamily& family);

// The same of a family of graphs. A size that varies is called as `sizes` has it, if it is one of those, else
// it is a range: "f32[n,3,1..9]".
std::vector<HeaderParameter> ParametersOf(const GraphFamily& family, const std::vector<VaryingSize>& sizes);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_
