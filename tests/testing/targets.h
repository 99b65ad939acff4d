// Target descriptions for tests: what is legal is that of a real AVX2 or AVX-512 CPU; the costs are made up.
#ifndef KIRSCH_TESTS_TESTING_TARGETS_H_
#define KIRSCH_TESTS_TESTING_TARGETS_H_

#include "spec/target.h"

namespace kirsch::testing {

Target Avx2Target();
Target Avx512Target();

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TARGETS_H_
