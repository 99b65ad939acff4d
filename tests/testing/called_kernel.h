// SPDX-License-Identifier: Apache-2.0
// What a kernel of f32 makes of its parameters, from its text on, by way of libkirsch.
#ifndef KIRSCH_TESTS_TESTING_CALLED_KERNEL_H_
#define KIRSCH_TESTS_TESTING_CALLED_KERNEL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "library/kirsch.hpp"

namespace kirsch::testing {

// A parameter's elements and the result's, as they lie in memory.
using Elements = std::vector<float>;

// The host as it is, and, if it is one of AVX-512, as one of AVX2.
inline constexpr const char* kHosts[] = {"host", "haswell"};

// Throws an Exception where something fails. Parameters and results of other types are the bytes of f32s.
// `sizes`: of a family's member.
inline Elements Called(const std::string& text, const std::vector<Elements>& parameters,
                       const std::string& target = "host", const Sizes& sizes = {}) {
  const Request request = Request::Parse(text).value();
  SolveOptions options;
  options.target = target;
  const Context context = Context::Create().value();
  const Kernel kernel = context.Solve(request, options).value().Compile().value();
  const kirsch_operand out = request.Operands(sizes).value().back();
  size_t elements = 1;
  for (int axis = 0; axis < out.rank; ++axis) elements *= static_cast<size_t>(out.shape[axis]);
  Elements result(elements);
  std::vector<const void*> operands;
  for (const Elements& parameter : parameters) operands.push_back(parameter.data());
  operands.push_back(result.data());
  kernel(operands, sizes).value();
  return result;
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_CALLED_KERNEL_H_
