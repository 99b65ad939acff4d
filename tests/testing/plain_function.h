// SPDX-License-Identifier: Apache-2.0
// Functions of one number, and arithmetic, as a kernel that computes in f32 may get them.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_
#define KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_

#include <string_view>

#include "tests/testing/plain_number.h"

namespace kirsch::testing {

// An operation of floats on elements, by its name in the language; `b` is a second argument, `option` the
// number of those that have one.
Bounds PlainFunction(std::string_view op, const Bounds& a, const Bounds& b, double option);
// a where the condition is not 0, else b.
Bounds PlainSelect(const Bounds& condition, const Bounds& a, const Bounds& b);

// Of a row: x / its root mean square, or of what differs from the mean.
std::vector<Bounds> PlainSoftmax(const std::vector<Bounds>& row);
std::vector<Bounds> PlainNormalized(std::vector<Bounds> row, bool centred, double eps);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_
