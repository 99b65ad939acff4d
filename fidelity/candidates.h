// SPDX-License-Identifier: Apache-2.0
// Programs of a problem, drawn by chance or promising, as code.
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

// What is drawn for each spec.
struct DrawOptions {
  int programs = 20;
  // Beside those, so many of the cheapest that differ in an outer choice (search/ranking/outer_choices.h).
  int promising = 0;
  uint64_t seed = 1;
  int threads = 1;
  Residency residency = Residency::kWarm;
  std::function<bool()> stop = {};  // asked between programs
};

struct Candidates {
  MeasuredSpec spec;  // with its programs, not measured yet, the one the search chooses first
  Workload workload;
  std::optional<CompiledLoops> loops;  // that tell a graph's result
  std::vector<Kernel> kernels;         // of the programs
};

// Draws and compiles. An error says why there is none: the spec has no program, this CPU can't run it, or
// there is no compiler for the loops of a graph.
absl::StatusOr<Candidates> DrawCandidates(const BenchEntry& entry, const CostModel& model, Memo& memo,
                                          const DrawOptions& options);

// "matmul f32", "softmax f32"; of a kernel in the kernel language "kernel".
std::string OperationOf(const std::string& text);

// Where the programs of a matmul start: its operands where they wait. An error if there is no room for them.
absl::StatusOr<Spec> PlacedRoot(const ParsedSpec& parsed, const CostModel& model, int threads,
                                Residency residency);

// What is known of a program before it is measured.
MeasuredProgram PredictedProgram(const Impl& impl, Cost cost, const CostModel& model);
MeasuredProgram PredictedProgram(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CANDIDATES_H_
