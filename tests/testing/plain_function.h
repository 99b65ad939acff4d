// SPDX-License-Identifier: Apache-2.0
// Functions of one number, and arithmetic, as a kernel that computes in f32, or in f64, may get them.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_
#define KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_

#include <string_view>

#include "tests/testing/plain_number.h"

namespace kirsch::testing {

// An operation of floats on elements, by its name in the language; `b` is a second argument, `option` the
// number of those that have one. `type`: f32 or f64.
Bounds PlainFunction(std::string_view op, const Bounds& a, const Bounds& b, double option,
                     const PlainType& type = PlainTypeOf("f32"));
// a where the condition is not 0, else b.
Bounds PlainSelect(const Bounds& condition, const Bounds& a, const Bounds& b);

// Of a row: x / its root mean square, or of what differs from the mean.
std::vector<Bounds> PlainSoftmax(const std::vector<Bounds>& row, const PlainType& type);
std::vector<Bounds> PlainNormalized(std::vector<Bounds> row, bool centred, double eps, const PlainType& type);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_FUNCTION_H_
