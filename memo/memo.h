// SPDX-License-Identifier: Apache-2.0
// The memo: what is known of every spec met so far. The search sees only this interface.
//
// A spec is asked about together with `available`, the cache lines left at the level being filled (see
// rewrites/spec/rewrite.h). A solution found with A lines available that uses P of them is optimal for every
// number of lines in [P, A]: that interval is its box. A bound found with A lines available holds for A and
// fewer.
#ifndef KIRSCH_MEMO_MEMO_H_
#define KIRSCH_MEMO_MEMO_H_

#include <cstdint>
#include <optional>

#include "cost/cost.h"
#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

// Cache lines; 0 up to kUnlimited.
using Lines = int32_t;
inline constexpr Lines kUnlimited = 1 << 30;

struct Solution {
  Cost cost = kInfiniteCost;
  Lines peak = 0;       // lines it uses at the level being filled
  Lines available = 0;  // the most lines for which it is known to be optimal
  Decision decision;
};

// What the memo knows of (spec, available): the optimal solution, or else the best lower bound known.
struct Known {
  std::optional<Solution> solution;
  Cost bound = 0;
};

// Thread-safe, unless said otherwise.
class Memo {
 public:
  virtual ~Memo() = default;

  virtual Known Find(const Spec& spec, Lines available) const = 0;

  virtual void AddSolution(const Spec& spec, const Solution& solution) = 0;

  // No program for `spec` within `available` lines costs less than `bound`.
  virtual void AddBound(const Spec& spec, Lines available, Cost bound) = 0;

  struct Counts {
    int64_t specs = 0;      // distinct specs
    int64_t solutions = 0;  // boxes
    int64_t bytes = 0;
  };
  virtual Counts counts() const = 0;

  // Forgets everything. No search may be running.
  virtual void Clear() = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_MEMO_H_
