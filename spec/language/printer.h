// SPDX-License-Identifier: Apache-2.0
// Prints specs as text: the inverse of spec/language/parser.h.
#ifndef KIRSCH_SPEC_LANGUAGE_PRINTER_H_
#define KIRSCH_SPEC_LANGUAGE_PRINTER_H_

#include <string>
#include <string_view>

#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch {

// Returns the shorthand of a spec, e.g. "matmul f32 4:64x64x64 rhs=col ldc=80 accumulate". Options with their
// usual value are left out. ParseSpec reads it back for a root spec (every operand strided, in RAM; one
// thread).
// Specs inside a program have parts that the shorthand lacks. They are printed for people, and nothing reads
// them: "rhs=packed16@L2", "out=vectors8@VRF", "threads=2", "active-threads=2".
std::string PrintSpec(const Spec& spec);

// The same with other text in the place of the sizes, for a family: "1..64x256x256".
std::string PrintSpec(const Spec& spec, std::string_view sizes);

// Returns a layout's word:
//
//   row, col       strided; the leading dimension is left out
//   packed         a copy in one panel; packed16: in panels of 16; packed16-col: column-major
//   packed32x2     in groups of two steps of the reduction
//   vectors8       registers: rows of vectors of 8 lanes; sums8: a vector for each element
std::string PrintLayout(const Layout& layout);

// Returns the types as users write them: "f32" for f32*f32->f32, "bf16*bf16->f32", "f16*f16+f16->f16".
std::string PrintTypes(const MatmulTypes& types);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PRINTER_H_
