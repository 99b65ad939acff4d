// SPDX-License-Identifier: Apache-2.0
// Holds a parameter of the function that computes a spec, as its caller sees it. Names and order follow from
// the text alone, not from the operand of the spec that the parameter becomes.
#ifndef KIRSCH_SPEC_PARAMETER_H_
#define KIRSCH_SPEC_PARAMETER_H_

#include <optional>
#include <string>

#include "spec/tensor_type.h"

namespace kirsch {

struct Parameter {
  std::string name;
  int operand = 0;  // of the spec, which the parameter is
  // As the text has it; empty: of a matmul's shorthand, as the operand lies.
  std::optional<TensorType> type = {};

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PARAMETER_H_
