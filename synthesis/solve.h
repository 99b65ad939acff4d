// SPDX-License-Identifier: Apache-2.0
// Finds the program of one kernel for one target: from a schedule, from the table, or by a search. Everything
// above asks for programs through these functions, so all agree on placement, table, time and tuning.
//
//    Solve               a spec or a graph: search, tune, price the packing
//      SolveSpec         a spec: all places of its operands, within the budget
//        SolvePlaced     one place: schedule, table or search
//        SolvePacked     the same, where the constant operand is packed already
//      SolveGraph        a graph (graph_kernel.h): asks SolvePlaced for its contractions
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
#include "spec/text/file.h"
#include "synthesis/database.h"
#include "synthesis/observer.h"
#include "synthesis/search_budget.h"
#include "synthesis/synthesis.h"

namespace kirsch {

class Tuner;
struct KeptWork;
struct PlanKnowledge;

// What the members of a family must have in common, where they are solved one after another. Those who solve
// families set it; users never do.
struct MemberPins {
  PlanPacking packing;          // how constants are packed; what it lacks: in the best way
  bool price_packing = true;    // also find out what packing costs and saves (AddPackingCost)
  Cost cutoff = kInfiniteCost;  // see SearchOptions; where no program costs less, none is tuned
  bool first_place = false;     // only the place that PlaceOperands has: programs are compared as rules
  std::optional<std::vector<int>> folded;  // this and the next two are of graphs: see PlanOptions
  double most_cycles = std::numeric_limits<double>::infinity();
  PlanKnowledge* knowledge = nullptr;
};

// A schedule to follow, whose open decisions are searched for.
struct GivenSchedule {
  std::string source;                    // its file, or what errors call it; empty: there is none
  std::optional<std::string> text = {};  // nothing: what is in the file

  bool empty() const { return source.empty(); }
  absl::StatusOr<std::string> Read() const { return text ? *text : ReadFile(source); }
};

// Says how a kernel is to be solved. Which kernel, and for which target, is said beside it. A value: copies
// are changed for parts of the work, as for their time or their progress text.
struct SolveArguments {
  int threads = 1;                // that share the work of a call of the kernel
  std::string cold;               // the operands in RAM, see cold_operands.h; empty: none
  bool fuse = true;               // graphs: groups of several operations
  bool allow_winograd = false;    // graphs: see PlanOptions
  GivenSchedule schedule;         // empty: programs are searched for
  int search_threads = 1;         // that search; any number finds the same program
  double time_budget = 0;         // seconds for the search; 0: no limit
  bool explain = false;           // graphs: see PlanOptions
  std::string tune;               // seconds to time programs for (tools/tuning.h); empty: none are timed
  bool tuned = false;             // use what was measured before, where the table knows it
  const DbOptions* db = nullptr;  // never null where something is solved
  const Tuner* tuner = nullptr;   // carries out `tune` and `tuned`; null: nothing does
  Observer* observer = nullptr;   // null: nothing is told, nothing stops
  SearchTrace trace;              // is told of each event; searches have one thread then
  std::string progress;           // prefix of what the observer is told: "member 3 of 64, "
  KeptWork* kept = nullptr;       // of the family's searches; null: none keeps anything
  MemberPins pins;
};

// Replaces the program that is predicted best by one that was measured to be faster. It is an interface, so
// that this folder times nothing itself: tools/tuning.h has the one implementation.
class Tuner {
 public:
  virtual ~Tuner() = default;
  // Called before the search. InvalidArgument, one line, if the options contradict each other.
  virtual absl::Status Check(const SolveArguments& arguments) const = 0;
  // Called after the search, which has filled in the result. May replace its program, and adds what was
  // measured. `asked` is the kernel, `cancelled` says that the observer stopped the search.
  virtual absl::Status Tune(const SolveArguments& arguments, const KernelMember& asked, bool cancelled,
                            Synthesis* synthesis) const = 0;
};

// InvalidArgument if the kernel can't share its work out over the threads that are asked for: a kernel for
// blocks of columns leaves threads to its caller.
absl::Status CheckThreads(const SolveArguments& arguments, const Spec& spec);

// InvalidArgument if the target has no instruction that sums as the spec does. Not all targets can sum f16.
absl::Status CheckSums(const Spec& spec, const Target& target);

// Solves one kernel: searches, or follows the pinned schedule; then tunes; then prices the packing of a
// constant operand. `memo` keeps what earlier searches learned, and gets what this one learns.
//
// `source`: what errors about a graph call its text. If the observer stops a search, `budget` ends, and with
// it all later searches; each returns its best program so far. Of a graph there may be no plan; of a search
// with a cutoff there may be no program (StopReason::kCutoff).
absl::StatusOr<OrNoPlan<Synthesis>> Solve(const SolveArguments& arguments, const KernelMember& asked,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget);

// The search alone, of a spec. Tries each place that its operands may have, and takes the cheapest; or takes
// the one place that has the pinned copy.
absl::StatusOr<SearchResult> SolveSpec(const SolveArguments& arguments, const ParsedSpec& parsed,
                                       const CostModel& model, Memo& memo, SearchBudget& budget);

// The program of a root whose operands have their places: from the schedule, from the table, or searched for.
// For `cutoff` see SearchOptions. With an `opened` table, errors may also be the table's, and the caller
// commits what was added.
absl::StatusOr<SearchResult> SolvePlaced(const SolveArguments& arguments, const Spec& placed,
                                         const CostModel& model, Memo& memo, Cost cutoff = kInfiniteCost,
                                         Table* opened = nullptr);

// The same where the constant operand is packed already: solves what is left, and returns the program of the
// whole.
absl::StatusOr<SearchResult> SolvePacked(const SolveArguments& arguments, const PackedRequest& request,
                                         const CostModel& model, Memo& memo, Cost cutoff = kInfiniteCost);

// The problem as it is solved: for the kernel's threads, its operands in their first place.
UserRequest PlacedRequest(const SolveArguments& arguments, const ParsedSpec& parsed, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SOLVE_H_
