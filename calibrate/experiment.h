// SPDX-License-Identifier: Apache-2.0
// Draws some programs of one problem, compiles them and times them: the unit that a calibration is made of.
//
//   Experiment -- Laboratory::Prepare --> PreparedExperiment -- Observe --> one Observation a program
//
// The two steps are apart because only the second one is repeated when others disturb it.
#ifndef KIRSCH_CALIBRATE_EXPERIMENT_H_
#define KIRSCH_CALIBRATE_EXPERIMENT_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workload/workload.h"
#include "calibrate/observation.h"
#include "codegen/kernel.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "spec/target.h"

namespace kirsch {

// Says what is to be measured: a problem, and which of its programs.
struct Experiment {
  std::string problem;        // a shorthand, or the text of a kernel
  int programs = 4;           // of it, drawn from its space; the model's choice is always one
  bool cold = false;          // operands are in RAM at every call
  std::string schedule = {};  // the only program that is wanted; empty: draw some
  bool may_lack = false;      // nothing is measured where the target's space has no such program
  std::string group = {};     // of problems that are alike, for people: "odd f32"
  bool held_out = false;      // of the fit: only what a model chooses is timed, see held_out.h
};

// A compiled program with what is needed to time and to price it.
struct PreparedProgram {
  std::string schedule;
  std::string program;  // see Observation
  Kernel kernel;
  bool chosen = false;  // as in Observation, as are the next two
  double distance = 0;
  std::function<double(const CostModel&)> predict;
};

// The programs of one experiment, with the operands they share.
struct PreparedExperiment {
  std::string problem, group;
  bool cold = false;
  Level level = Level::kRam;  // where the operands are at first
  Workload workload;
  std::vector<PreparedProgram> programs;
};

// Draws, compiles and prices programs for one target. Its memo keeps what is known of one problem's specs for
// the next one. Not thread-safe.
class Laboratory {
 public:
  // `workers`: threads of each search.
  Laboratory(const Target& target, int workers) : model_(target), workers_(workers) {}

  const CostModel& model() const { return model_; }

  // Prepares the experiment's programs without those in `known`, which holds texts as Observation::program
  // has them. InvalidArgument for a problem or a schedule that isn't one; FailedPrecondition if this CPU
  // can't run the target's code. No programs at all where `may_lack` says that this is no error.
  absl::StatusOr<PreparedExperiment> Prepare(const Experiment& experiment,
                                             const std::set<std::string>& known = {});

  // Makes an observation of numbers that were measured before, for the experiment's schedule. Nothing is
  // compiled or timed. InvalidArgument as for Prepare.
  absl::StatusOr<Observation> Recall(const Experiment& experiment, double cycles, double spread);

 private:
  const CostModel model_;
  HashMemo memo_;
  const int workers_;
};

// The most that one program reads from RAM: a machine may share a huge cache with others.
inline constexpr int64_t kMostBytes = int64_t{192} << 20;

// Returns bytes of operands that no cache holds: twice L3, but 64 MB at least and kMostBytes at most. A
// virtual machine may have a share of the L3 that it sees. What falls out of the share is still in the rest
// of it. Only what is larger than any share is surely in RAM.
int64_t SurelyBeyond(const Target& target);

// How programs are timed.
struct ExperimentOptions {
  int rounds = 4;   // each takes a sample of every program
  double peak = 0;  // as in TrialOptions
  std::function<bool()> stop = {};
};

// Times the programs side by side and checks their results. Programs of which there is no sample, since
// `stop` ended the trials, are left out. Errors are those of RunTrials; a wrong result is an Internal error.
absl::StatusOr<std::vector<Observation>> Observe(const PreparedExperiment& experiment,
                                                 const ExperimentOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_EXPERIMENT_H_
