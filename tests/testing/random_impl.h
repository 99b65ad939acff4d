// SPDX-License-Identifier: Apache-2.0
// Random legal programs: walks of the rewrite space. What is sound for all of them is sound for the search.
#ifndef KIRSCH_TESTS_TESTING_RANDOM_IMPL_H_
#define KIRSCH_TESTS_TESTING_RANDOM_IMPL_H_

#include <random>
#include <string>
#include <vector>

#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch::testing {

// A program of `spec` with decisions drawn from EnumerateDecisions. At first any decision is as likely as any
// other kind; the deeper the walk, the more it goes for whatever finishes, so that programs stay small.
Impl RandomImpl(const Spec& spec, const Target& target, std::mt19937_64* random);

// The same with the first decision given.
Impl RandomImplFrom(const Spec& spec, const Decision& first, const Target& target, std::mt19937_64* random);

// The decisions of the program, indented, to name a failing case.
std::string Describe(const Impl& impl);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_RANDOM_IMPL_H_
