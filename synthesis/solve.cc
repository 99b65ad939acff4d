// SPDX-License-Identifier: Apache-2.0
#include "synthesis/solve.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_format.h"
#include "cost/cost_model.h"
#include "cost/shared_cost_model.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/replay.h"
#include "search/solver/search_within.h"
#include "search/table/answer.h"
#include "spec/extension.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/quantity.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "synthesis/cold_operands.h"
#include "synthesis/graph_kernel.h"
#include "synthesis/kept_work.h"

namespace kirsch {
namespace {

// Tells the observer how a search goes, at most five times a second.
//    searching: 1.2 s, 4711 specs, best so far 5.4 us (18419 cycles, bound 17200)
class SearchProgressTeller {
 public:
  SearchProgressTeller(const Step& step, std::string prefix, double ghz)
      : step_(step), prefix_(std::move(prefix)), ghz_(ghz) {}

  void Tell(const SearchProgress& progress) {
    if (progress.seconds < told_ + 0.2) return;
    told_ = progress.seconds;
    std::string text = absl::StrFormat("%ssearching: %.1f s, %d specs", prefix_, progress.seconds,
                                       progress.stats.specs_solved);
    if (progress.best < kInfiniteCost)
      absl::StrAppendFormat(&text, ", best so far %s (%.0f cycles, bound %.0f)",
                            SecondsText(1e-9 * ToCycles(progress.best) / ghz_), ToCycles(progress.best),
                            ToCycles(progress.bound));
    step_.Tell(text);
  }

 private:
  const Step& step_;
  const std::string prefix_;
  const double ghz_;
  double told_ = 0;
};

// Replays a schedule. What it leaves open is searched.
absl::StatusOr<SearchResult> Follow(const GivenSchedule& given, const Spec& placed, const CostModel& model,
                                    Memo& memo, const SearchOptions& options) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, given.Read());
  KIRSCH_ASSIGN_OR_RETURN(Schedule schedule, ParseSchedule(text, given.source, placed.op));
  return Replay(placed, schedule, given.source, model, memo, options);
}

// Asks the table before it searches, and keeps what the search finds. Without `opened`, it opens the table
// for this one question, and writes what is new at once.
absl::StatusOr<SearchResult> SearchWithTable(const DbOptions& db, const Spec& spec, Lines available,
                                             const CostModel& model, Memo& memo, const SearchOptions& options,
                                             Table* opened) {
  if (opened != nullptr) return AnswerWithin(spec, available, model, memo, options, opened);
  const auto start = std::chrono::steady_clock::now();
  KIRSCH_ASSIGN_OR_RETURN(std::shared_ptr<Table> table, OpenTable(db, model.target()));
  // What it takes to open the file is part of what the table costs.
  const double opening = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  absl::StatusOr<SearchResult> result = AnswerWithin(spec, available, model, memo, options, table.get());
  if (!result.ok()) {
    KIRSCH_RETURN_IF_ERROR(WithoutTable(db, result.status()));
    return SearchWithin(spec, available, model, memo, options);
  }
  // From here on the answer is known. What is left is to write it to the table, if there is one.
  if (table == nullptr) return result;
  result->table_seconds += opening;
  KIRSCH_RETURN_IF_ERROR(CommitTable(db, *table));
  return result;
}

// Calls search(options) with options that tell the observer how it goes, and that end the search when the
// observer asks for it.
template <typename SearchWith>
absl::StatusOr<SearchResult> WithOptions(const SolveArguments& arguments, const Target& target, Cost cutoff,
                                         const SearchWith& search) {
  const Step step(arguments.observer, StepKind::kSearch);
  SearchProgressTeller teller(step, arguments.progress, target.ghz);
  SearchOptions options;
  options.time_budget_seconds = arguments.time_budget;
  options.cancel = step.stop();
  // A trace has the work of the calling thread only (search.h), so a traced search has no other.
  options.workers = arguments.trace ? 1 : arguments.search_threads;
  options.trace = arguments.trace;
  options.cutoff = cutoff;
  if (arguments.kept != nullptr) options.ranking = &arguments.kept->ranking;
  if (arguments.observer != nullptr)
    options.progress = [&teller](const SearchProgress& progress) { teller.Tell(progress); };
  return search(options);
}

// The user's spec, for the threads that the kernel is made for.
Spec RootFor(const SolveArguments& arguments, const ParsedSpec& parsed) {
  Spec root = parsed.spec;
  root.threads = static_cast<uint8_t>(arguments.threads);
  return root;
}

// Solves the spec at each of the places, and returns the cheapest program. All places share the time that
// there is. A stopped search ends the round: nothing is proven of the places after it but their closed-form
// bound.
absl::StatusOr<SearchResult> SolveAtCheapest(const SolveArguments& arguments,
                                             absl::Span<const Spec> placements, const CostModel& model,
                                             Memo& memo) {
  constexpr double kLeastBudget = 1e-3;  // as 0 is none
  SolveArguments one = arguments;
  size_t tried = 0;
  absl::StatusOr<SearchResult> best =
      AtCheapest(placements, arguments.pins.cutoff, [&](const Spec& placed_root, Cost cutoff) {
        // A later place has what earlier ones have left of the time.
        ++tried;
        absl::StatusOr<SearchResult> result = SolvePlaced(one, placed_root, model, memo, cutoff);
        if (result.ok() && one.time_budget > 0)
          one.time_budget = std::max(kLeastBudget, one.time_budget - result->seconds);
        return result;
      });
  if (best.ok())
    // The result's bound must hold for all places, also for those that were not tried.
    for (const Spec& placed_root : placements.subspan(tried))
      best->bound = std::min(best->bound, model.LowerBound(placed_root));
  return best;
}

// Solves a problem on its own: with the pinned copy, or at the cheapest place. A pinned copy has been checked
// to exist for this member (search/families/shared_copy.h).
absl::StatusOr<SearchResult> SolveRequest(const SolveArguments& arguments, const ParsedSpec& parsed,
                                          const CostModel& model, Memo& memo) {
  if (const PlanPacking& packing = arguments.pins.packing; !packing.empty()) {
    const UserRequest request = PlacedRequest(arguments, parsed, model.target());
    return SolvePacked(arguments, *WithCopy(request, OnlyCopy(packing), model.target()), model, memo,
                       arguments.pins.cutoff);
  }
  std::vector<Spec> placements =
      Placements(RootFor(arguments, parsed), ColdOperands(arguments.cold, parsed), model.target());
  if (arguments.pins.first_place) placements.resize(1);
  return SolveAtCheapest(arguments, placements, model, memo);
}

// Finds out what packing costs once, and what a call would cost without it, so that users can tell whether
// `const` pays. It needs a second search, without the constant, and is skipped where either search was
// stopped: stopped costs say nothing.
absl::Status AddPackingCost(const SolveArguments& arguments, const ParsedSpec& parsed,
                            const SearchBudget& budget, Synthesis* synthesis) {
  const auto& impl = std::get<Impl>(synthesis->program);
  const int operand = ConstantOperand(impl.spec);
  if (operand < 0 || (synthesis->stop != StopReason::kOptimal && synthesis->stop != StopReason::kPinned))
    return absl::OkStatus();
  // The schedule is one for the packed kernel, so the unpacked one is searched for.
  SolveArguments unpacked = arguments;
  unpacked.schedule = {};
  unpacked.time_budget = budget.Left();
  unpacked.progress += "without const, ";
  Spec root = RootFor(arguments, parsed);
  root.tensor(operand).constant = 0;
  const std::shared_ptr<const CostModel> shared = SharedCostModel(synthesis->target);
  const CostModel& model = *shared;
  const std::vector<Spec> placements = Placements(root, ColdOperands(arguments.cold, parsed), model.target());
  KIRSCH_ASSIGN_OR_RETURN(const SearchResult result,
                          SolveAtCheapest(unpacked, placements, model, *synthesis->memo));
  if (result.stop != StopReason::kOptimal) return absl::OkStatus();
  // The program's first decision is the one that packs.
  Expansion expansion;
  Expand(impl.spec, impl.decision, model.target(), &expansion);
  synthesis->pack_cycles = model.PackCycles(impl.spec, impl.decision, expansion);
  synthesis->unpacked_cycles = ToCycles(result.cost);
  return absl::OkStatus();
}

// The search of either kind of kernel, with the same result. `*cancelled`: the observer stopped it.
absl::StatusOr<OrNoPlan<Synthesis>> SearchFor(const SolveArguments& arguments, const ParsedSpec& parsed,
                                              const std::string&, const Target& target,
                                              const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                              bool* cancelled) {
  KIRSCH_RETURN_IF_ERROR(CheckThreads(arguments, parsed.spec));
  KIRSCH_RETURN_IF_ERROR(CheckSums(parsed.spec, target));
  KIRSCH_ASSIGN_OR_RETURN(SearchResult result,
                          SolveSpec(arguments, parsed, *SharedCostModel(target), *memo, budget));
  if (result.stop == StopReason::kCutoff && target.extension != nullptr)
    return absl::InvalidArgumentError(Cat("extension '", target.extension->Identity(),
                                          "': expected decisions that make a program, got none for '",
                                          PrintSpec(parsed.spec), "'"));
  *cancelled = result.stop == StopReason::kCancelled;
  return MakeSynthesis(parsed, target, std::move(result), memo);
}

absl::StatusOr<OrNoPlan<Synthesis>> SearchFor(const SolveArguments& arguments, const Graph& graph,
                                              const std::string& source, const Target& target,
                                              const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                              bool* cancelled) {
  KIRSCH_ASSIGN_OR_RETURN(OrNoPlan<PlanResult> answer,
                          SolveGraph(arguments, graph, source, target, memo, budget, cancelled));
  if (const auto* const none = std::get_if<NoPlan>(&answer)) return *none;
  return MakeSynthesis(target, std::get<PlanResult>(std::move(answer)), memo);
}

}  // namespace

absl::StatusOr<SearchResult> SolvePlaced(const SolveArguments& arguments, const Spec& placed,
                                         const CostModel& model, Memo& memo, Cost cutoff, Table* opened) {
  return WithOptions(arguments, model.target(), cutoff, [&](const SearchOptions& options) {
    if (!arguments.schedule.empty()) return Follow(arguments.schedule, placed, model, memo, options);
    const Lines available = AvailableAtPlacement(placed, model.target());
    return SearchWithTable(*arguments.db, placed, available, model, memo, options, opened);
  });
}

absl::StatusOr<SearchResult> SolvePacked(const SolveArguments& arguments, const PackedRequest& request,
                                         const CostModel& model, Memo& memo, Cost cutoff) {
  absl::StatusOr<SearchResult> result =
      WithOptions(arguments, model.target(), cutoff, [&](const SearchOptions& options) {
        return SearchWithTable(*arguments.db, request.kernel, request.available, model, memo, options,
                               nullptr);
      });
  if (result.ok()) result->impl = request.Program(std::move(result->impl));
  return result;
}

UserRequest PlacedRequest(const SolveArguments& arguments, const ParsedSpec& parsed, const Target& target) {
  return {PlaceOperands(RootFor(arguments, parsed), ColdOperands(arguments.cold, parsed), target),
          parsed.swapped};
}

absl::Status CheckThreads(const SolveArguments& arguments, const Spec& spec) {
  if (spec.block == 0 || arguments.threads == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--threads: expected 1, as column-blocks leave threads to the caller");
}

absl::Status CheckSums(const Spec& spec, const Target& target) {
  const Arithmetic plain = PlainArithmetic(AccumulatorOf(spec));
  if (TargetHas(plain, target)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("target: expected one with ",
                                        Join(Info(plain).encodings.front().features, ", "), " for sums of ",
                                        Info(CallersType(AccumulatorOf(spec))).name, ", got ", target.name));
}

absl::StatusOr<SearchResult> SolveSpec(const SolveArguments& arguments, const ParsedSpec& parsed,
                                       const CostModel& model, Memo& memo, SearchBudget& budget) {
  SolveArguments own = arguments;
  own.time_budget = budget.Left();
  absl::StatusOr<SearchResult> result = SolveRequest(own, parsed, model, memo);
  if (result.ok() && result->stop == StopReason::kCancelled) budget.End();
  return result;
}

absl::StatusOr<OrNoPlan<Synthesis>> Solve(const SolveArguments& arguments, const KernelMember& asked,
                                          const std::string& source, const Target& target,
                                          const std::shared_ptr<Memo>& memo, SearchBudget& budget) {
  if (arguments.tuner != nullptr) KIRSCH_RETURN_IF_ERROR(arguments.tuner->Check(arguments));
  // One step spans both, so an interrupt between search and tuning is not lost.
  const Step step(arguments.observer, StepKind::kSearch);  // from the search to what is tuned
  bool cancelled = false;
  KIRSCH_ASSIGN_OR_RETURN(OrNoPlan<Synthesis> answer,
                          std::visit(
                              [&](const auto& kernel) {
                                return SearchFor(arguments, kernel, source, target, memo, budget, &cancelled);
                              },
                              asked));
  // Nothing to tune or to price: there is no plan, or no program below the cutoff.
  auto* const synthesis = std::get_if<Synthesis>(&answer);
  if (synthesis == nullptr || synthesis->stop == StopReason::kCutoff) return answer;
  absl::Status status = arguments.tuner != nullptr
                            ? arguments.tuner->Tune(arguments, asked, cancelled, synthesis)
                            : absl::OkStatus();
  const auto* const parsed = std::get_if<ParsedSpec>(&asked);
  if (status.ok() && parsed != nullptr && arguments.pins.price_packing)
    status = AddPackingCost(arguments, *parsed, budget, synthesis);
  if (!status.ok()) return status;
  return answer;
}

}  // namespace kirsch
