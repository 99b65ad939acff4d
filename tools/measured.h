// SPDX-License-Identifier: Apache-2.0
// What a bench report says of a kernel, for pages to show beside what is predicted.
#ifndef KIRSCH_TOOLS_MEASURED_H_
#define KIRSCH_TOOLS_MEASURED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

struct MeasuredRate {
  std::string spec;  // as it was benched
  std::string name;  // "kirsch", or the peer with its version
  double gflops = 0;
  double bytes = 0;  // of the operands, each once

  bool ours() const { return name == "kirsch"; }
};

// The right results of a report that `bench --json` wrote. An error says in one line where it is none.
absl::StatusOr<std::vector<MeasuredRate>> ReadMeasured(const std::string& path);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_MEASURED_H_
