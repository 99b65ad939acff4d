// SPDX-License-Identifier: Apache-2.0
// Does a program compute its spec?
#ifndef KIRSCH_TESTS_TESTING_ORACLE_H_
#define KIRSCH_TESTS_TESTING_ORACLE_H_

#include <gtest/gtest.h>

#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch::testing {

// interpret(impl) == reference(impl.spec), bit for bit on small integers, and on any if they are integers by
// type; gaps between the output's rows untouched.
::testing::AssertionResult InterpretedEqualsReference(const Impl& impl, const Target& target);

// Does one for a range of sizes compute the spec, which has one of them?
::testing::AssertionResult InterpretedEqualsReference(const Impl& range, const Spec& spec,
                                                      const Target& target);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ORACLE_H_
