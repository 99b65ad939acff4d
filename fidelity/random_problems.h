// SPDX-License-Identifier: Apache-2.0
// Draws problems of all kinds by chance, to judge the model's choices by problems that nobody picked.
#ifndef KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_
#define KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kirsch {

// Returns the texts of `count` problems, the kinds in turn: matmuls of several types, convolutions, rows,
// attention, and kernels that fuse. Sizes are log-uniform; every other one is as it comes, the others are
// multiples of 16. No problem has more than some 2^27 multiplications or elements. The same seed gives the
// same texts on every machine.
//
//   matmul f32 37x512x96 rhs=col
//   conv2d f32 1x12x61x61 filters=112 kernel=3x3 stride=1 pad=1 layout=nhwc
std::vector<std::string> DrawProblems(int count, uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_RANDOM_PROBLEMS_H_
