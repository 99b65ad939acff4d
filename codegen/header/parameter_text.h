// SPDX-License-Identifier: Apache-2.0
// Says in a header's comment what the parameters are that a text declares: "f32[32,512]". Internal to
// codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_
#define KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_

#include <vector>

#include "codegen/header/header_file.h"
#include "spec/language/family.h"
#include "spec/language/graph_family.h"

namespace kirsch {

// Returns the inputs in the order of the text, then out. Returns none for the short form of a matmul, which
// declares no parameters.
std::vector<HeaderParameter> ParametersOf(const SpecFamily& family);

// The same of a family of graphs. A size that varies is printed by the name that `sizes` has for it, or else
// as a range: "f32[n,3,1..9]".
std::vector<HeaderParameter> ParametersOf(const GraphFamily& family, const std::vector<VaryingSize>& sizes);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_PARAMETER_TEXT_H_
