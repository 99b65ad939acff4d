// SPDX-License-Identifier: Apache-2.0
// Plans and makes the runs that every kernel of a problem goes through, whichever engine it comes from. All
// kernels get the same inputs and are held against the same reference.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_LADDER_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_LADDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/llvm/spills.h"
#include "codegen/verify/known_problem.h"
#include "codegen/verify/verify_run.h"

namespace kirsch {

// kNotRun says nothing about the kernel: the machine lacks something, or the kernel was left out.
enum class RungOutcome { kPassed, kFailed, kNotRun };

inline constexpr char kInterpreterRung[] = "interpreter", kJitRung[] = "jit", kHeaderRung[] = "header";

// The outcome of one engine.
struct RungReport {
  std::string name;
  RungOutcome outcome = RungOutcome::kNotRun;
  std::string text = "";               // one line: what was run, or what was wrong, or why nothing was run
  std::optional<HotLoops> loops = {};  // of its machine code
};

// The runs for one problem.
struct TrialPlan {
  int64_t most_rows = 0;            // compared element by element
  std::vector<VerifyTrial> trials;  // the more important ones first
};

inline constexpr double kMostFlopsInFull = 1e9;

// A function that is called with the step that begins, for people to read meanwhile: "jit, run 2 of 5, 8.6
// GFLOP".
using VerifyProgress = std::function<void(std::string_view)>;

// Returns the runs for a problem whose work is `tasks` tasks for threads; 1: it isn't shared out. Above
// `most_flops_in_full`, rows are sampled, and there are fewer runs.
TrialPlan PlanTrials(const KnownProblem& problem, int64_t tasks, uint64_t seed,
                     double most_flops_in_full = kMostFlopsInFull);

// Runs kernels of one problem. It keeps what the outputs should be, so that several kernels are held against
// the same. Not thread-safe.
class Ladder {
 public:
  // `problem` outlives this.
  Ladder(const KnownProblem& problem, TrialPlan plan, VerifyProgress progress = {});

  // Runs `kernel` through the first `most_trials` of the plan, up to the first that goes wrong. kNotRun if
  // there isn't the memory for one of them.
  RungReport Climb(const Kernel& kernel, size_t most_trials);

  // Returns the largest error of all runs so far; see CheckRows.
  double max_error() const { return max_error_; }

 private:
  // The reference's results for one kind of input.
  struct Answer {
    InputKind kind;
    uint64_t seed;
    std::vector<Oracle> oracles;  // of each output
  };

  // `run`: which of how many, for people.
  absl::Status RunTrial(const Kernel& kernel, const VerifyTrial& trial, const std::string& run);
  absl::Status CheckSample(const VerifyTrial& trial, const Operands& operands, const ProblemOutput& output);
  absl::StatusOr<const Operands*> OperandsFor(const VerifyTrial& trial);
  const std::vector<Oracle>& OraclesFor(const VerifyTrial& trial, const Operands& operands);
  std::string Summary(size_t trials) const;

  const KnownProblem& problem_;
  const TrialPlan plan_;
  const bool sampled_;  // not all rows are compared
  const VerifyProgress progress_;
  std::vector<std::unique_ptr<Answer>> answers_;  // one per kind of input, made when first needed
  VerifyTrial last_;                              // of all engines' ...
  std::optional<Operands> operands_;              // ... and its tensors, as long as no run has gone wrong
  double max_error_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_LADDER_H_
