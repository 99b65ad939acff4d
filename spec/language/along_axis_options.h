// SPDX-License-Identifier: Apache-2.0
// Lists the options that operations along an axis have beside axis=, a row each: parsing, printing, help and
// a table's questions go by the rows.
//
//   slice(x, axis=1, from=0, to=64, step=2)
//   window_max(x, axis=2, size=3, stride=2, before=1)
#ifndef KIRSCH_SPEC_LANGUAGE_ALONG_AXIS_OPTIONS_H_
#define KIRSCH_SPEC_LANGUAGE_ALONG_AXIS_OPTIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/graph/graph.h"
#include "spec/operation.h"

namespace kirsch {

struct AlongAxisOption {
  std::string_view name;
  uint32_t least, most;
  uint32_t& (*of)(AlongAxis& along);
};

// Those of the operation, in the order in which they are printed; none of any that is not along an axis.
std::vector<AlongAxisOption> AlongAxisOptionsOf(Operation op);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_ALONG_AXIS_OPTIONS_H_
