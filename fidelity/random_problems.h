// SPDX-License-Identifier: Apache-2.0
// Problems of all kinds drawn by chance: what the model's choices are judged by.
#ifndef KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_
#define KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kirsch {

// Texts of `count` problems, the kinds in turn: matmuls of several types, convolutions, rows, attention, and
// kernels that fuse. Sizes are log-uniform, every other one as it comes, the others a multiple of 16. No
// problem has more than some 2^27 multiplications or elements. The same for a seed on every machine.
std::vector<std::string> DrawProblems(int count, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_
