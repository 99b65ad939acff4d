// SPDX-License-Identifier: Apache-2.0
#include "spec/text/quantity.h"

#include "absl/strings/str_format.h"

namespace kirsch {

std::string SecondsText(double seconds) {
  if (seconds < 1e-6) return absl::StrFormat("%.4g ns", seconds * 1e9);
  if (seconds < 1e-3) return absl::StrFormat("%.4g us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.4g ms", seconds * 1e3);
  return absl::StrFormat("%.4g s", seconds);
}

}  // namespace kirsch
