// SPDX-License-Identifier: Apache-2.0
// Says which operands are in RAM when a kernel starts, as `--cold` names them.
#ifndef KIRSCH_SEARCH_SOLVER_RESIDENCY_H_
#define KIRSCH_SEARCH_SOLVER_RESIDENCY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kirsch {

// A set of operand numbers: those in RAM. The others are in the fastest cache that holds all of them
// (search/solver/placement.h). Contractions that can't be computed without a copy of rhs have room for it
// there, too.
//
// Numbers are those of a spec's operands, or of a graph's parameters followed by its result. One bit serves
// each number below 63. All numbers from 63 on share the last bit, so they are in RAM together.
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

// Reads the operands that are in RAM, as in "rhs,out". `names`: the name of each number. An error is
// InvalidArgument, one line, with the place in `source`: an unknown name, or one that is there twice.
absl::StatusOr<Residency> ParseResidency(std::string_view text, std::string_view source,
                                         absl::Span<const std::string> names);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RESIDENCY_H_
