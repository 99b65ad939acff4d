// SPDX-License-Identifier: Apache-2.0
// Which operands are in RAM when a kernel starts.
#ifndef KIRSCH_SEARCH_SOLVER_RESIDENCY_H_
#define KIRSCH_SEARCH_SOLVER_RESIDENCY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kirsch {

// Those in RAM. The others are in the fastest cache that holds all of them. Of some contractions it holds a
// copy of rhs as well: those that can't be computed without one. By number: of a spec its operands', of a
// graph its parameters', then the result. Those beyond the 63rd are where the 64th is.
class Residency {
 public:
  static const Residency kWarm;  // none is in RAM
  static const Residency kCold;  // all are

  constexpr Residency() = default;
  constexpr explicit Residency(uint64_t in_ram) : in_ram_(in_ram) {}

  constexpr bool InRam(int number) const { return (in_ram_ >> (number < kMost ? number : kMost) & 1) != 0; }
  constexpr uint64_t in_ram() const { return in_ram_; }
  constexpr friend bool operator==(Residency, Residency) = default;

 private:
  static constexpr int kMost = 63;
  uint64_t in_ram_ = 0;
};

inline constexpr Residency Residency::kWarm{0};
inline constexpr Residency Residency::kCold{~uint64_t{0}};

// A list of operands with commas between, as in "rhs,out": those in RAM. `names`: of each number. Errors are
// InvalidArgument, one line, with the place in `source`.
absl::StatusOr<Residency> ParseResidency(std::string_view text, std::string_view source,
                                         absl::Span<const std::string> names);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RESIDENCY_H_
