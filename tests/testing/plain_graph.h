// SPDX-License-Identifier: Apache-2.0
// What a kernel in the kernel language means, by docs/spec.md and spec/graph/graph.h alone:
// all elements of one value after the other, in double, as the ends between which a correct kernel's are. A
// second opinion: it shares nothing with spec/meaning/graph_reference.h, whose bounds are values with errors.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_GRAPH_H_
#define KIRSCH_TESTS_TESTING_PLAIN_GRAPH_H_

#include <vector>

#include "tests/testing/grammar_graph.h"
#include "tests/testing/plain_number.h"

namespace kirsch::testing {

// The results' elements, one result behind the other; `parameters`: theirs, dense, in their order.
std::vector<Bounds> PlainResult(const GrammarGraph& graph,
                                const std::vector<std::vector<double>>& parameters);

// What `got` is compared with: the first element that is not between its ends; empty if all are.
std::string FirstOutside(const std::vector<Bounds>& expected, const std::vector<double>& got);

// The share of elements that would tell a value of another magnitude: the ends are close to each other.
double TellingShare(const std::vector<Bounds>& expected);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_GRAPH_H_
