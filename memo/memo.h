// SPDX-License-Identifier: Apache-2.0
// Defines the memo: whatever is known of every spec met so far. The search sees only this interface.
//
// A spec is asked about together with `available`, the number of cache lines left at the level being filled
// (see rewrites/spec/rewrite.h). More lines can only make the optimum cheaper. So a solution found with A
// lines available that uses P of them is optimal for every number of lines in [P, A]: this interval is its
// box. A bound found with A lines available holds for A and fewer.
//
// Example: with 512 lines the optimum uses 300. The same solution answers 300 to 512. For 200 lines its cost
// is a bound. Nothing follows for 600.
#ifndef KIRSCH_MEMO_MEMO_H_
#define KIRSCH_MEMO_MEMO_H_

#include <cstdint>
#include <optional>

#include "cost/cost.h"
#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

// A number of cache lines; kUnlimited stands for no limit.
using Lines = int32_t;
inline constexpr Lines kUnlimited = 1 << 30;

// An optimum, with the interval [peak, available] of lines for which it is one.
struct Solution {
  Cost cost = kInfiniteCost;
  Lines peak = 0;       // lines it uses at the level being filled
  Lines available = 0;  // the most lines for which it is known to be optimal
  Decision decision;
};

// The answer for (spec, available): the optimal solution, or, if none is known, the best lower bound known.
// With a solution, the bound is its cost.
struct Known {
  std::optional<Solution> solution;
  Cost bound = 0;
};

// All functions are thread-safe, unless a comment says otherwise.
class Memo {
 public:
  virtual ~Memo() = default;

  // Returns all that is known and implied by what is known.
  virtual Known Find(const Spec& spec, Lines available) const = 0;

  // The solution must be optimal for all of its interval.
  virtual void AddSolution(const Spec& spec, const Solution& solution) = 0;

  // Adds a bound: no program for `spec` within `available` lines costs less than `bound`.
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
