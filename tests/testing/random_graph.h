// SPDX-License-Identifier: Apache-2.0
// Graphs drawn at random.
#ifndef KIRSCH_TESTS_TESTING_RANDOM_GRAPH_H_
#define KIRSCH_TESTS_TESTING_RANDOM_GRAPH_H_

#include <random>
#include <string>

namespace kirsch::testing {

// A kernel in the kernel language of `operations` operations (transposes and repeated reductions may come on
// top), each on values that are there, with new parameters where it takes more.
std::string RandomKernel(int operations, std::mt19937& random);

// "conv2d f32 ..." with any options, small.
std::string RandomConvolution(std::mt19937& random);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_RANDOM_GRAPH_H_
