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
Target Avx512Target();

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TARGETS_H_
