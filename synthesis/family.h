// SPDX-License-Identifier: Apache-2.0
// From a request, which is a spec, a graph, or a family of either, to programs: all members solved with one
// memo, and their regions.
#ifndef KIRSCH_SYNTHESIS_FAMILY_H_
#define KIRSCH_SYNTHESIS_FAMILY_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "search/families/common_packing.h"
#include "search/families/shared_copy.h"
#include "spec/decision.h"
#include "spec/language/kernel_file.h"
#include "synthesis/family_regions.h"
#include "synthesis/graph_kernel.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"

namespace kirsch {

using Member = std::variant<Synthesis, GraphSynthesis>;

// The program of a member that was searched for it alone.
struct OwnProgram {
  Decision first;
  Cost cost = kInfiniteCost;
};

// Of several searches; the worst reason to stop of any.
struct SearchEffort {
  StopReason stop = StopReason::kOptimal;
  int64_t specs = 0;
  double seconds = 0;

  void Add(const SearchResult& result);
  void Add(const SearchEffort& other);
};

struct FamilySynthesis {
  KernelRequest request;
  std::vector<Member> members;  // in the family's order; all of one kind
  Regions regions;              // of equal decisions, or of plans that compute the same things together
  // Where members that differ in one size share programs: those for all of a region, in the order of
  // `regions`; and which of the request's sizes that is.
  std::vector<Impl> shared = {};
  size_t shared_size = 0;
  // Likewise of graphs that differ in their number of keys or rows (the shared size), where members have no
  // plans but of their graphs, and the last one of each region its whole plan.
  std::vector<Plan> plans = {};
  // Where members share programs, or the copy of a constant operand: of each member that was solved alone.
  std::vector<std::optional<OwnProgram>> own = {};
  std::vector<Cost> bounds = {};  // of all such members: no program of its own costs less; 0: not known
  std::optional<SharedCopy> shared_copy = {};
  std::optional<CommonPacking> packing = {};  // of the constants of graphs
  SearchEffort before = {};                   // of what was searched for, and led to no member's program
  std::string cold = {};  // the operands that are in RAM when it starts, see cold_operands.h

  // Are programs for regions, not for members?
  bool shares() const { return !shared.empty() || !plans.empty(); }
  bool is_graph() const { return request.graph.has_value(); }
  const char* program_word() const { return is_graph() ? "plan" : "schedule"; }
  const Target& target() const;
  const Synthesis& spec(size_t member) const { return std::get<Synthesis>(members[member]); }
  const GraphSynthesis& graph(size_t member) const { return std::get<GraphSynthesis>(members[member]); }

  // regions.losses, from what members cost and what `own` and `bounds` say.
  void SetLosses();
};

// Which members get programs of their own.
enum class CodeSharing {
  kNone,   // all
  kSizes,  // of matmuls that differ in one size, those that FindSizeRegions asks for; others share. Of
           // graphs that differ in their keys or rows, none, if there are plans for any number
};

// What there is to say of a member, whichever it is.
struct MemberFacts {
  std::string name;
  StopReason stop;
  int64_t specs;
  double seconds, cycles, gflops;
};
MemberFacts FactsOf(const Member& member);

// The schedule, or the plan, of a member.
std::string ProgramText(const Member& member);

// The largest member of a region, which stands for it.
const Member& LargestMember(const FamilySynthesis& synthesis, const DispatchRange& region);

// An error if its members can't be solved together as they are asked for.
absl::Status CheckFamily(const SolveArguments& arguments, const KernelRequest& request);

// Solves every member that is to have its own program, whatever target and time budget `arguments` has. A
// search that is stopped ends the budget.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget, CodeSharing sharing = CodeSharing::kNone);

// The error where a schedule is given for more than one spec.
absl::Status NotPinned();

// The schedule, or the plan, of each region's largest member, under what the region is as '#' comments; of a
// single member it alone.
std::string RegionPrograms(const FamilySynthesis& synthesis);

// Likewise the program that the decisions make, in the shapes of spec/program/program.h: of each region the
// one that its members share, or else its largest member's.
std::string RegionShapes(const FamilySynthesis& synthesis);

// Of all members together.
SearchEffort EffortOf(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_FAMILY_H_
