// The runs that every kernel of a problem goes through, whichever engine it comes from.
#ifndef KIRSCH_CODEGEN_VERIFY_LADDER_H_
#define KIRSCH_CODEGEN_VERIFY_LADDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/verify_check.h"
#include "codegen/verify_run.h"
#include "spec/spec.h"

namespace kirsch {

enum class RungOutcome { kPassed, kFailed, kSkipped };

inline constexpr char kInterpreterRung[] = "interpreter";

struct RungReport {
  std::string name;  // "interpreter", "jit", "header"
  RungOutcome outcome = RungOutcome::kSkipped;
  std::string text;  // one line: what was run, or what was wrong, or why nothing was run
};

struct VerifyPlan {
  int64_t most_rows = 0;  // compared element by element; if there are more, Freivalds' check covers the whole
  std::vector<Trial> trials;  // the more important ones first
};

inline constexpr double kMostFlopsInFull = 1e9;

// The runs for a problem of this size whose work is `tasks` tasks. Above `most_flops_in_full`, rows are
// sampled.
VerifyPlan PlanTrials(const Spec& root, int64_t tasks, uint64_t seed,
                      double most_flops_in_full = kMostFlopsInFull);

// Holds what the outputs should be, so that several kernels are held against the same. Not thread-safe.
class Ladder {
 public:
  Ladder(const Spec& root, VerifyPlan plan);

  // Runs `kernel` through the first `most_trials` of the plan, up to the first that goes wrong.
  RungReport Climb(const Kernel& kernel, size_t most_trials);

  // Of all runs so far; see CheckRows.
  double max_error() const { return max_error_; }

 private:
  absl::Status RunTrial(const Kernel& kernel, const Trial& trial);
  absl::StatusOr<const Oracle*> OracleFor(const Trial& trial);
  std::string Summary(size_t trials) const;

  const Spec root_;
  const VerifyPlan plan_;
  const bool sampled_;                            // not all rows are compared ...
  const bool linear_;                             // ... but the whole output by Freivalds' check
  std::vector<std::unique_ptr<Oracle>> oracles_;  // one per kind of input, made when first needed
  double max_error_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_LADDER_H_
