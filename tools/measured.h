// SPDX-License-Identifier: Apache-2.0
// Reads what `bench --json` measured, so that a page can show it beside what is predicted.
#ifndef KIRSCH_TOOLS_MEASURED_H_
#define KIRSCH_TOOLS_MEASURED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

struct MeasuredRate {
  std::string spec;  // the text or the name under which it was benched
  std::string name;  // "kirsch", or the peer with its version
  double gflops = 0;
  double bytes = 0;  // of the operands, each once

  bool ours() const { return name == "kirsch"; }
};

// The results of a report that `bench --json` wrote, without those that were wrong. An error says in one line
// where the file is no such report.
absl::StatusOr<std::vector<MeasuredRate>> ReadMeasured(const std::string& path);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_MEASURED_H_
