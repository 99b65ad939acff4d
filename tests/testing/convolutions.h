// SPDX-License-Identifier: Apache-2.0
// Convolutions for tests, given or drawn at random.
#ifndef KIRSCH_TESTS_TESTING_CONVOLUTIONS_H_
#define KIRSCH_TESTS_TESTING_CONVOLUTIONS_H_

#include <random>
#include <vector>

#include "spec/convolution.h"

namespace kirsch::testing {

// Every convolution with inputs of up to 6 x 6 pixels, 3 channels, 3 filters, kernels of up to 3 x 3, strides
// and dilations 1 and 2, in both layouts; and depthwise, with 1 to 3, 15 to 17, and 31 to 33 channels, or
// groups of 2, 4 and 8.
std::vector<ConvShape> SmallConvolutions();

// Both layouts, of two axes or three, in groups or not, strides and dilations of each axis, several images,
// operands that are parts of larger ones; at most so many multiplications.
ConvShape RandomConvolution(double most, std::mt19937_64* random);

inline constexpr MatmulTypes kF32 = {Dtype::kF32, Dtype::kF32, Dtype::kF32};

// Its root spec.
Spec SpecOf(const ConvShape& shape, const MatmulTypes& types = kF32);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_CONVOLUTIONS_H_
