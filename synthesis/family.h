// SPDX-License-Identifier: Apache-2.0
// Solves a request for one target: a spec, a graph, or a family of either. All members are solved with one
// memo; then the regions are found that share decisions or code. A single kernel is a family of one member.
//
//    matmul f32 1..64x64x64   -->   m 1        1 member, a program of its own
//                                   m 33..64   32 members, one program that takes m
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

// The program that a member has of its own: searched for it alone, without regard to other members. What
// sharing loses is measured against it.
struct OwnProgram {
  Decision first;     // of a spec
  double cycles = 0;  // predicted
};

// The effort of several searches together. `stop` is the worst reason of any: kOptimal only if all were
// optimal.
struct SearchEffort {
  StopReason stop = StopReason::kOptimal;
  int64_t specs = 0;
  double seconds = 0;

  void Add(const SearchResult& result);
  void Add(const SearchEffort& other);
};

// Says how the members of a family have their constant parameters packed: all alike, so that callers pack
// once for all sizes.
struct SharedPacking {
  std::string what;             // "copy" of an operand, "packing" of a graph's parameters
  std::string layout, mixture;  // as text; the packing is best for this mixture of sizes, "": none
  double loss = 0;              // the share that the mixture costs more than with a packing for each size
};

// The answer to a whole request. Invariant: the members are all specs or all graphs. Members, and all lists
// that are by member, are in the order of the family, the last size varying fastest.
struct FamilySynthesis {
  KernelRequest request;
  std::vector<Synthesis> members;  // in the family's order
  Regions regions;                 // of equal decisions, or of plans that compute the same things together
  // Where members share programs: the program of each region, in the order of `regions`. `sizes_of_shared`
  // says for each program what it takes, in the program's order: sums of the request's sizes, mostly of a
  // single one. Both are empty where each member has its own program. Where graphs share plans, members have
  // none; only the last member of each region keeps a copy.
  std::vector<ProgramTree> shared = {};
  std::vector<std::vector<SizeSum>> sizes_of_shared = {};
  // Of specs, each member's own program, if that was searched for. Of graphs it is empty.
  std::vector<std::optional<OwnProgram>> own = {};
  // Of specs, a bound for each member in cycles: no program of its own costs less. 0: nothing is known.
  std::vector<double> bounds = {};
  std::optional<SharedPacking> packing = {};
  SearchEffort before = {};  // of searches whose program no member has: for bounds, copies, losses
  std::string cold = {};     // the operands that are in RAM when it starts, see cold_operands.h

  // True: programs are those of regions, in `shared`. False: each member has its own.
  bool shares() const { return !shared.empty(); }
  // All members are for one target.
  const Target& target() const { return members.front().target; }
  // The last member of a region. It stands for the region in texts and reports.
  const Synthesis& last(const Region& region) const { return members[static_cast<size_t>(region.last())]; }
  // The programs of all members, in their order.
  std::vector<const ProgramTree*> programs() const;

  // Sets regions.losses from what members cost, against `own`, or else against `bounds`.
  void SetLosses();
};

// Says whether members may share programs, as one function of several sizes is smaller than several
// functions.
enum class CodeSharing {
  kNone,   // no: each gets its own
  kSizes,  // of matmuls, if they differ in one size, in rows and columns, or in rows and the reduction
           // (shared_programs.h). Of graphs, if there are plans for any of these (shared_plans.h)
};

// Checks before any search whether the members can be solved as they are asked for. InvalidArgument, one
// line:
//   - a family of specs with a constant operand has more than one size that varies, or one of the operand's;
//   - a family that shares a constant is to be tuned;
//   - there are too many members for a program each, and no programs that they may share;
//   - a schedule is given for several members; or threads for blocks of columns (CheckThreads).
absl::Status CheckFamily(const SolveArguments& arguments, const KernelRequest& request);

// Solves the request for `target`, within `budget` and not the time budget of `arguments`. `memo` is for this
// target alone. A search that is stopped ends `budget`.
absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget, CodeSharing sharing = CodeSharing::kNone);

// The error where a schedule is given for more than one kernel or target: a schedule has the sizes of one
// kernel.
absl::Status NotPinned();

// Prints for people the schedule or the plan of each region's last member, below a comment that says what the
// region is. Of a single member, its schedule or plan alone.
//    # m 1: 1 kernel, 81.9 to 81.9 GFLOP/s predicted; the schedule of matmul f32 1x64x64
//    move out VRF vectors8                     # 1 x matmul f32 1x64x64 lhs=row@L1 ...
std::string RegionPrograms(const FamilySynthesis& synthesis);

// The same with programs instead of decisions, in the shapes of spec/program/program.h: of each region the
// program that its members share, or else its last member's.
std::string RegionShapes(const FamilySynthesis& synthesis);

// The effort of all searches: those of the members, and `before`.
SearchEffort EffortOf(const FamilySynthesis& synthesis);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_FAMILY_H_
