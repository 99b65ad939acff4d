// SPDX-License-Identifier: Apache-2.0
// From a request, which is a spec, a graph, or a family of either, to programs: all members solved with one
// memo, and their regions.
#ifndef KIRSCH_SYNTHESIS_FAMILY_H_
#define KIRSCH_SYNTHESIS_FAMILY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/memo.h"
#include "spec/decision.h"
#include "spec/language/kernel_file.h"
#include "spec/program/program_tree.h"
#include "synthesis/family_regions.h"
#include "synthesis/search_budget.h"
#include "synthesis/solve.h"

namespace kirsch {

// The program of a member that was searched for it alone.
struct OwnProgram {
  Decision first;     // of a spec
  double cycles = 0;  // predicted
};

// Of several searches; the worst reason to stop of any.
struct SearchEffort {
  StopReason stop = StopReason::kOptimal;
  int64_t specs = 0;
  double seconds = 0;

  void Add(const SearchResult& result);
  void Add(const SearchEffort& other);
};

// How the members of a family have their constant parameters packed, all alike.
struct SharedPacking {
  std::string what;             // "copy" of an operand, "packing" of a graph's parameters
  std::string layout, mixture;  // for what mixture of sizes; "": evenly
  double loss = 0;              // the share that it costs more than with one for each size
};

struct FamilySynthesis {
  KernelRequest request;
  std::vector<Synthesis> members;  // in the family's order
  Regions regions;                 // of equal decisions, or of plans that compute the same things together
  // Where members share programs: those for all of a region, in the order of `regions`; and of each, which of
  // the request's sizes it takes, in its order. Members of graphs have no plans then; each region's is kept
  // of its last one, too.
  std::vector<ProgramTree> shared = {};
  std::vector<std::vector<size_t>> sizes_of_shared = {};
  // Where members share programs, or the copy of a constant operand: of each member that was solved alone.
  std::vector<std::optional<OwnProgram>> own = {};
  // Of all such members: no program of its own costs less cycles; 0: not known.
  std::vector<double> bounds = {};
  std::optional<SharedPacking> packing = {};
  SearchEffort before = {};  // of what was searched for, and led to no member's program
  std::string cold = {};     // the operands that are in RAM when it starts, see cold_operands.h

  // Are programs for regions, not for members?
  bool shares() const { return !shared.empty(); }
  const Target& target() const { return members.front().target; }
  // The last member of a region, which stands for it.
  const Synthesis& last(const DispatchRange& region) const {
    return members[static_cast<size_t>(region.last())];
  }
  // The programs of all members, in their order.
  std::vector<const ProgramTree*> programs() const;

  // regions.losses, from what members cost and what `own` and `bounds` say.
  void SetLosses();
};

// May members share programs?
enum class CodeSharing {
  kNone,   // no: each gets its own
  kSizes,  // of matmuls, if they differ in one size, in rows and columns, or in rows and the reduction
           // (FindSharedSizes). Of graphs, if there are plans for any number of their keys, rows, or both
};

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
