// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning_candidates.h"

#include <set>
#include <utility>

#include "search/ranking/k_best.h"
#include "search/ranking/k_best_plans.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// At most 16 programs, which depart from the best in an outer choice. They cost at most a quarter more than
// the best.
const RankOptions kTimed = {16, Distinct::kOuterChoice, 0.25};

// Keeps candidates, but none that is the same code as an earlier one: timing it again would tell nothing. Two
// schedules may well be the same code (search/ranking/same_code.h).
class CandidateList {
 public:
  explicit CandidateList(const Target& target) : target_(target) {}

  void Add(const ProgramTree& program, double cycles) {
    // Programs are compared as they are written out: loops, kernels, buffers.
    if (codes_.insert(PrintProgram(WriteProgram(program, target_))).second)
      list_.push_back({PrintSchedule(program), cycles, program});
  }
  std::vector<TuningCandidate> Take() && { return std::move(list_); }

 private:
  const Target& target_;
  std::set<std::string> codes_;
  std::vector<TuningCandidate> list_;
};

}  // namespace

std::vector<TuningCandidate> FindCandidates(const Synthesis& synthesis, const SearchOptions& search) {
  const CostModel model(synthesis.target);
  const Spec& root = std::get<Impl>(synthesis.program).spec;
  CandidateList list(synthesis.target);
  // The first candidate is the one that is taken unless another is faster beyond noise. The ranking finds it
  // again; the list drops what is the same code.
  list.Add(synthesis.program, synthesis.cycles);
  for (const RankedProgram& program : KBest(root, kTimed, model, *synthesis.memo, search).programs)
    list.Add(program.tree, program.cycles);
  return std::move(list).Take();
}

absl::StatusOr<std::vector<TuningCandidate>> FindCandidates(const SolveArguments& arguments,
                                                            const Graph& graph, const Target& target,
                                                            Memo& memo, const SearchOptions& search) {
  const CostModel model(target);
  CandidateList list(target);
  KIRSCH_ASSIGN_OR_RETURN(const KBestResult best, KBestPlans(graph, "", kTimed, model, memo,
                                                             MakePlanOptions(arguments, graph), search));
  // A ranking of plans begins with the cheapest plan itself.
  for (const RankedProgram& plan : best.programs) list.Add(plan.tree, plan.cycles);
  return std::move(list).Take();
}

}  // namespace kirsch
