// SPDX-License-Identifier: Apache-2.0
// From a spec or a graph, and a target, to a program.
#ifndef KIRSCH_SYNTHESIS_SOLVE_H_
#define KIRSCH_SYNTHESIS_SOLVE_H_

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/families/shared_copy.h"
#include "search/graph/plan_packing.h"
#include "search/graph/plan_search.h"
#include "search/solver/search.h"
#include "spec/language/kernel_family.h"
#include "spec/target.h"
#include "synthesis/database.h"
#include "synthesis/observer.h"
#include "synthesis/search_budget.h"
#include "synthesis/synthesis.h"

namespace kirsch {

class Tuner;

// What the members of a family have in common, where they are solved one after another: set by those who
// solve families, never by users.
struct MemberPins {
  // Of a constant operand: how its copy is to lie; nothing: however it is best. And whether what its packing
  // costs and saves is to be found out.
  std::optional<ConstantCopy> copy;
  bool price_packing = true;
  Cost cutoff = kInfiniteCost;  // see SearchOptions; where there is no program below, none is tuned
  bool first_place = false;  // operands are where PlaceOperands places them: programs are compared as rules
  PlanPacking packing;       // of graphs, with what is constant-folded, and their cutoff: see PlanOptions
  std::optional<std::vector<int>> folded;
  double most_cycles = std::numeric_limits<double>::infinity();
};

// How a kernel is to be solved; which one, and for which target, is said beside it.
struct SolveArguments {
  int threads = 1;                // that the kernel is for
  std::string cold;               // the operands in RAM, with commas between; kAllCold: all; empty: none
  bool fuse = true;               // graphs: groups of several operations
  bool allow_winograd = false;    // graphs: see PlanOptions
  std::string schedule;           // a file, that is followed; empty: programs are searched for
  int search_threads = 1;         // that search
  double time_budget = 0;         // seconds; 0: none
  bool explain = false;           // graphs: see PlanOptions
  std::string tune;               // seconds that programs are timed for (tools/tuning.h); empty: they aren't
  bool tuned = false;             // use what was measured before
  const DbOptions* db = nullptr;  // never null where something is solved
  const Tuner* tuner = nullptr;   // of programs that are timed; null: none are
  Observer* observer = nullptr;   // null: nothing is told, nothing stops
  SearchTrace trace;              // of all searches, by one thread then
  std::string progress;           // what it is told begins with
  MemberPins pins;
};

// Puts programs that were measured to be faster in the place of those that are predicted best (tuning.h).
class Tuner {
 public:
  virtual ~Tuner() = default;
  // Do the options go together? InvalidArgument, one line.
  virtual absl::Status Check(const SolveArguments& arguments) const = 0;
  // `asked`: what the synthesis is of. `cancelled`: its search was stopped.
  virtual absl::Status Tune(const SolveArguments& arguments, const KernelMember& asked, bool cancelled,
                            Synthesis* synthesis) const = 0;
};

// May the spec's kernel share its work out over the threads that are asked for?
absl::Status CheckThreads(const SolveArguments& arguments, const Spec& spec);

// Has the target an instruction that sums as the spec does? Of f16, not all have.
absl::Status CheckSums(const Spec& spec, const Target& target);

// Searches with what `memo` knows already, or follows the pinned schedule; then tunes, and prices the packing
// of a constant operand. `source`: what errors about a graph call its text. A search that the observer stops
// ends `budget`, and so all others, with the best programs so far.
absl::StatusOr<OrNoPlan<Synthesis>> Solve(const SolveArguments& arguments, const KernelMember& asked,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget);

// The search alone, of a spec: at the place of its operands where it is cheapest, or with the pinned copy.
absl::StatusOr<SearchResult> SolveSpec(const SolveArguments& arguments, const ParsedSpec& parsed,
                                       const CostModel& model, Memo& memo, SearchBudget& budget);

// The program of a root whose operands have their places: from the table, or searched for; see
// SearchOptions::cutoff. With an open table, errors are also its own, and nothing is committed.
absl::StatusOr<SearchResult> SolvePlaced(const SolveArguments& arguments, const Spec& placed,
                                         const CostModel& model, Memo& memo, Cost cutoff = kInfiniteCost,
                                         Table* opened = nullptr);

// The same of what is left of a request whose constant operand is packed already.
absl::StatusOr<SearchResult> SolvePacked(const SolveArguments& arguments, const PackedRequest& request,
                                         const CostModel& model, Memo& memo, Cost cutoff = kInfiniteCost);

// The request as it is solved: for the threads, its operands in their places.
UserRequest PlacedRequest(const SolveArguments& arguments, const ParsedSpec& parsed, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SOLVE_H_
