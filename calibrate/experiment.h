// SPDX-License-Identifier: Apache-2.0
// One problem, and some of its programs measured: the experiments that a calibration is made of.
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

struct Experiment {
  std::string problem;        // a shorthand, or a kernel
  int programs = 4;           // of it, drawn from its space; the model's choice is always one
  bool cold = false;          // operands are in RAM at every call
  std::string schedule = {};  // the only program that is wanted
  bool may_lack = false;      // nothing is measured where the target's space has no such program
  std::string group = {};     // of problems that are alike, for people: "odd f32"
  bool held_out = false;      // of the fit: only what a model chooses is timed, see held_out.h
};

// A program, ready to be timed and priced.
struct PreparedProgram {
  std::string schedule;
  std::string program;  // see Observation
  Kernel kernel;
  bool chosen = false;  // see Observation, and the next two
  double distance = 0;
  std::function<double(const CostModel&)> predict;
};

struct PreparedExperiment {
  std::string problem, group;
  bool cold = false;
  Level level = Level::kRam;  // where the operands wait
  Workload workload;
  std::vector<PreparedProgram> programs;
};

// Draws, compiles and prices programs for one target. What is known of one problem's specs is of use for the
// next. Not thread-safe.
class Laboratory {
 public:
  // So many threads search.
  Laboratory(const Target& target, int workers) : model_(target), workers_(workers) {}

  const CostModel& model() const { return model_; }

  // The programs but those in `known`, which are as Observation::program has them. InvalidArgument for a
  // problem or a schedule that isn't one; FailedPrecondition if this CPU can't run the target's code.
  absl::StatusOr<PreparedExperiment> Prepare(const Experiment& experiment,
                                             const std::set<std::string>& known = {});

  // An observation made before, of the experiment's schedule. InvalidArgument likewise.
  absl::StatusOr<Observation> Recall(const Experiment& experiment, double cycles, double spread);

 private:
  const CostModel model_;
  HashMemo memo_;
  const int workers_;
};

// No more than this is read from RAM by one program: a machine may share a huge cache with others.
inline constexpr int64_t kMostBytes = int64_t{192} << 20;

// Bytes of operands that no cache holds. What a virtual machine sees of L3 may be a share of what there is,
// and what falls out of the share is still in the rest of it: only what is larger than any share is surely in
// RAM.
int64_t SurelyBeyond(const Target& target);

struct ExperimentOptions {
  int rounds = 4;
  double peak = 0;  // see TrialOptions
  std::function<bool()> stop = {};
};

// Times the programs. The errors of RunTrials; a program whose result is wrong is an Internal error.
absl::StatusOr<std::vector<Observation>> Observe(const PreparedExperiment& experiment,
                                                 const ExperimentOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_EXPERIMENT_H_
