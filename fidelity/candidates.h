// SPDX-License-Identifier: Apache-2.0
// Draws programs of a problem, by chance or promising ones, and compiles them, ready to be measured.
//
// Programs drawn by chance tell how well the model predicts. Promising ones tell whether its choice is the
// right one.
#ifndef KIRSCH_FIDELITY_CANDIDATES_H_
#define KIRSCH_FIDELITY_CANDIDATES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/compiled_loops.h"
#include "bench/workload/entries.h"
#include "bench/workload/workload.h"
#include "codegen/kernel.h"
#include "cost/cost_model.h"
#include "fidelity/corpus.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/impl.h"
#include "spec/language/parser.h"
#include "spec/program/plan.h"
#include "spec/spec.h"

namespace kirsch {

// Says what is drawn for each spec.
struct DrawOptions {
  int programs = 20;  // by chance, with the one that the search chooses
  // Besides, so many of the cheapest programs that differ in an outer choice
  // (search/ranking/outer_choices.h).
  int promising = 0;
  uint64_t seed = 1;
  int threads = 1;
  Residency residency = Residency::kWarm;
  std::function<bool()> stop = {};  // asked between programs
};

// A problem with its programs. `kernels` and `spec.programs` have the same order.
struct Candidates {
  MeasuredSpec spec;  // with its programs, not measured yet; first the one that the search chooses
  Workload workload;
  std::optional<CompiledLoops> loops;  // a reference for the result; graphs only
  std::vector<Kernel> kernels;         // of the programs
};

// Draws and compiles. An error says why there is none: the spec has no program, this CPU can't run it, or
// there is no compiler for the loops of a graph.
absl::StatusOr<Candidates> DrawCandidates(const BenchEntry& entry, const CostModel& model, Memo& memo,
                                          const DrawOptions& options);

// Returns the operation and the type that a text begins with, "matmul f32" or "softmax f32", by which specs
// are grouped. A kernel in the kernel language, which has several lines, is called "kernel".
std::string OperationOf(const std::string& text);

// Returns the spec with its operands at the levels where they are at first. InvalidArgument if there is no
// room for the copies it needs.
absl::StatusOr<Spec> PlacedRoot(const ParsedSpec& parsed, const CostModel& model, int threads,
                                Residency residency);

// Returns what is known of a program before it is measured: schedule, terms, facts and predicted cycles.
MeasuredProgram PredictedProgram(const Impl& impl, Cost cost, const CostModel& model);
MeasuredProgram PredictedProgram(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CANDIDATES_H_
