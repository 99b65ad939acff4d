// SPDX-License-Identifier: Apache-2.0
// Target descriptions for tests: what is legal is that of a real AVX2 or AVX-512 CPU; the costs are made up.
#ifndef KIRSCH_TESTS_TESTING_TARGETS_H_
#define KIRSCH_TESTS_TESTING_TARGETS_H_

#include <ostream>

#include "spec/target.h"

namespace kirsch {

// For GoogleTest's messages.
inline void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

}  // namespace kirsch

namespace kirsch::testing {

Target Avx2Target();
Target Avx2DotTarget();  // with avxvnni
Target Avx512Target();

// The same with the instructions that multiply bf16 and 8-bit integers in groups.
Target Avx512DotTarget();
// And with a unit for tiles.
Target MatrixTarget();
// Or with tables of bytes.
Target Avx512TablesTarget();

// So small that a matmul with sides up to 6 has all a large one has: caches of 8, 32 and 128 lines of 4
// elements, two vector widths, six registers; two cores share L3.
Target TinyTarget();
Target TinyDotTarget();  // has every arithmetic

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TARGETS_H_
