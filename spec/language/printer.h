// SPDX-License-Identifier: Apache-2.0
// Specs as text: the inverse of spec/language/parser.h.
#ifndef KIRSCH_SPEC_LANGUAGE_PRINTER_H_
#define KIRSCH_SPEC_LANGUAGE_PRINTER_H_

#include <string>
#include <string_view>

#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch {

// The shorthand of a spec, e.g. "matmul f32 4:64x64x64 rhs=col ldc=80 accumulate"; what is a default is left
// out. ParseSpec reads it back for a root spec (every operand strided, in RAM; one thread). Specs inside a
// program also have parts that the shorthand lacks, for a reader only: "rhs=packed16@L2", "out=vectors8@VRF",
// "threads=2", "active-threads=2".
std::string PrintSpec(const Spec& spec);

// The same with other text where the sizes are: a family's.
std::string PrintSpec(const Spec& spec, std::string_view sizes);

// "row", "col" (of a strided layout; its leading dimension is left out), "packed", "packed16",
// "packed16-col", "packed32x2" (groups of two), "vectors8", "sums8".
std::string PrintLayout(const Layout& layout);

// "f32" for f32*f32->f32, "bf16*bf16->f32".
std::string PrintTypes(const MatmulTypes& types);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PRINTER_H_
