// SPDX-License-Identifier: Apache-2.0
#include "synthesis/family.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cost/shared_cost_model.h"
#include "search/families/regions.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/kept_work.h"
#include "synthesis/shared_packing.h"
#include "synthesis/shared_plans.h"
#include "synthesis/shared_programs.h"

namespace kirsch {
namespace {

// One line of what was decided, without the sizes. Members with equal lines form a region.
std::string DecisionOf(const ProgramTree& program, const KernelMember& asked) {
  const auto* const plan = std::get_if<Plan>(&program);
  return plan != nullptr ? PlanOutline(*plan)
                         : DecisionSpine(std::get<Impl>(program), std::get<ParsedSpec>(asked).swapped);
}

// Solves member i alone. An error of one graph of a family also says which sizes the graph has.
absl::StatusOr<Synthesis> SolveMember(SolveArguments arguments, const KernelRequest& request, int64_t i,
                                      const Target& target, const std::shared_ptr<Memo>& memo,
                                      SearchBudget& budget) {
  const KernelMember asked = request.family.member(i);
  absl::StatusOr<OrNoPlan<Synthesis>> answer = Solve(arguments, asked, request.source, target, memo, budget);
  const bool none = answer.ok() && std::holds_alternative<NoPlan>(*answer);
  if (none && !arguments.pins.packing.empty()) {
    // The member can't have the packing that is best for all, or there is no time to find out. Then it may
    // read a constant as it is, where it can't have the pinned copy.
    for (auto& [constant, copies] : arguments.pins.packing) copies.insert(PlainCopy{});
    answer = Solve(arguments, asked, request.source, target, memo, budget);
  }
  absl::StatusOr<Synthesis> solved = Require(std::move(answer));
  if (!solved.ok() && request.count() > 1 && std::holds_alternative<Graph>(asked))
    return absl::Status(solved.status().code(), Cat(std::string(solved.status().message()), " (for ",
                                                    MemberText(request.sizes(), i), ")"));
  return solved;
}

// The name that errors give the request: that in the user's file, or SPEC on the command line.
std::string LabelOf(const KernelRequest& request) { return request.label.empty() ? "SPEC" : request.label; }

// Gives the members programs of their own again: regions are then those of equal decisions.
FamilySynthesis WithOwnRegions(FamilySynthesis synthesis) {
  synthesis.shared.clear();
  synthesis.sizes_of_shared.clear();
  synthesis.regions.losses.clear();
  std::vector<std::string> decisions;
  for (size_t i = 0; i < synthesis.members.size(); ++i)
    decisions.push_back(
        DecisionOf(synthesis.members[i].program, synthesis.request.family.member(static_cast<int64_t>(i))));
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, decisions);
  return synthesis;
}

// Solves all members as `arguments` say. There are three ways, tried in this order: plans that graphs share,
// programs that specs share, and a program for each member.
absl::StatusOr<FamilySynthesis> SolveMembersOf(const SolveArguments& arguments, const KernelRequest& request,
                                               const Target& target, const std::shared_ptr<Memo>& memo,
                                               SearchBudget& budget, CodeSharing sharing) {
  FamilySynthesis synthesis{request, {}, {request.sizes(), {}, false, {}, {}}};
  // Sizes between samples have no programs of their own. So what no shared program takes must not be sampled.
  const auto named = [&](const absl::Status& status) {
    return absl::Status(status.code(), Cat(LabelOf(request), ": ", std::string(status.message())));
  };
  const auto check_sizes = [&](const std::vector<size_t>& shared) {
    const absl::Status status = CheckEachLookedAt(synthesis.regions.sizes, shared);
    return status.ok() ? status : named(status);
  };
  // Calls solve(arguments) of a member, and tells of it.
  const auto with_progress = [&](int64_t i, const auto& solve) {
    SolveArguments own = arguments;
    if (request.count() > 1) Append(&own.progress, "member ", i + 1, " of ", request.count(), ", ");
    const Step step(arguments.observer, StepKind::kSearch);
    step.Tell(own.progress + "searching");
    return solve(own);
  };
  const auto solve = [&](int64_t i) {
    return with_progress(
        i, [&](const SolveArguments& own) { return SolveMember(own, request, i, target, memo, budget); });
  };
  if (sharing == CodeSharing::kSizes)
    // The first kind of plan that serves all members is taken.
    for (const SharedPlanSizes& size : FindSharedPlanSizes(arguments, request)) {
      if (!check_sizes(size.numbers).ok()) continue;
      KIRSCH_ASSIGN_OR_RETURN(const bool shared,
                              SharePlans(arguments, size, target, memo, budget, solve, &synthesis));
      if (shared) return synthesis;
    }
  const std::shared_ptr<const CostModel> kept = SharedCostModel(target);
  const CostModel& model = *kept;
  const std::vector<size_t> shared =
      sharing == CodeSharing::kSizes ? FindSharedSizes(arguments, request) : std::vector<size_t>();
  KIRSCH_RETURN_IF_ERROR(check_sizes(shared));
  // Rules are made of programs whose operands are where PlaceOperands has them, so only that place is
  // searched.
  if (!shared.empty()) {
    const auto search = [&](int64_t i, Cost cutoff) {
      return with_progress(i, [&](SolveArguments own) {
        own.pins.cutoff = cutoff;
        own.pins.first_place = true;
        return SolveSpec(own, request.family.specs()->member(i), model, *memo, budget);
      });
    };
    if (absl::Status status = SharePrograms(arguments, shared, model, memo, search, &synthesis); !status.ok())
      return check_sizes({}).ok() ? status : named(status);
    // As many programs as members share nothing. Then plain functions are as good.
    if (synthesis.shared.size() < synthesis.members.size() || !check_sizes({}).ok()) return synthesis;
    return WithOwnRegions(std::move(synthesis));
  }
  // No sharing: solve each member.
  for (int64_t i = 0; i < request.count(); ++i) {
    KIRSCH_ASSIGN_OR_RETURN(Synthesis solved, solve(i));
    synthesis.regions.gflops.push_back(solved.gflops());
    if (const auto* const impl = std::get_if<Impl>(&solved.program)) {
      synthesis.own.emplace_back(OwnProgram{impl->decision, solved.cycles});
      synthesis.bounds.push_back(solved.bound_cycles);
    }
    synthesis.members.push_back(std::move(solved));
  }
  return WithOwnRegions(std::move(synthesis));
}

}  // namespace

std::vector<const ProgramTree*> FamilySynthesis::programs() const {
  std::vector<const ProgramTree*> programs;
  for (const Synthesis& member : members) programs.push_back(&member.program);
  return programs;
}

// A search that proves that nothing costs less than its cutoff has done its work: it is not a worse reason to
// stop.
void SearchEffort::Add(const SearchResult& result) {
  if (result.stop != StopReason::kCutoff) stop = std::max(stop, result.stop);
  specs += result.stats.specs_solved;
  seconds += result.seconds;
}

void SearchEffort::Add(const SearchEffort& other) {
  stop = std::max(stop, other.stop);
  specs += other.specs;
  seconds += other.seconds;
}

SearchEffort EffortOf(const FamilySynthesis& synthesis) {
  SearchEffort effort = synthesis.before;
  for (const Synthesis& member : synthesis.members)
    effort.Add({member.stop, member.stats.specs_solved, member.seconds});
  return effort;
}

void FamilySynthesis::SetLosses() {
  regions.losses.assign(members.size(), std::nullopt);
  const auto loss = [&](size_t i, double best) { return members[i].cycles / best - 1; };
  for (size_t i = 0; i < members.size(); ++i)
    if (own[i])
      regions.losses[i] = MemberLoss{loss(i, own[i]->cycles), true};
    else if (bounds[i] != 0)
      regions.losses[i] = MemberLoss{loss(i, bounds[i]), false};
}

namespace {

// An error if there are too many members for a program each, and no programs that they may share.
absl::Status CheckSharing(const SolveArguments& arguments, const KernelRequest& request) {
  const std::vector<VaryingSize> sizes = request.sizes();
  if (request.family.specs() != nullptr) return CheckEachLookedAt(sizes, FindSharedSizes(arguments, request));
  absl::Status each = CheckEachLookedAt(sizes);
  if (each.ok()) return each;
  const std::vector<SharedPlanSizes> shared = FindSharedPlanSizes(arguments, request);
  const bool may_share = std::any_of(shared.begin(), shared.end(), [&](const SharedPlanSizes& size) {
    return CheckEachLookedAt(sizes, size.numbers).ok();
  });
  return may_share ? absl::OkStatus() : each;
}

}  // namespace

absl::Status CheckFamily(const SolveArguments& arguments, const KernelRequest& request) {
  const int64_t count = request.count();
  const std::string name = LabelOf(request);
  const bool tuned = !arguments.tune.empty() || arguments.tuned;
  if (const SpecFamily* const specs = request.family.specs()) {
    const Spec first = specs->member(0).spec;
    KIRSCH_RETURN_IF_ERROR(CheckThreads(arguments, first));
    const bool constant = count > 1 && ConstantOperand(first) >= 0;
    if (constant && !specs->SharesConstant())
      return absl::InvalidArgumentError(
          Cat(name, ": expected a single size that varies, and none of those that the constant operand has"));
    if (constant && tuned)
      return absl::InvalidArgumentError(
          Cat(name, ": expected a single size where programs are tuned and an operand is constant"));
  } else if (SharesConstants(request) && tuned) {
    return absl::InvalidArgumentError(
        Cat(request.name, ": expected a single size where programs are tuned and a parameter is constant"));
  }
  if (absl::Status shared = CheckSharing(arguments, request); !shared.ok())
    return absl::InvalidArgumentError(Cat(name, ": ", std::string(shared.message())));
  return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
}

absl::Status NotPinned() {
  return absl::InvalidArgumentError("--schedule: expected a single kernel for a single target to follow it");
}

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget, CodeSharing sharing) {
  KIRSCH_RETURN_IF_ERROR(CheckFamily(arguments, request));
  if (const SpecFamily* const specs = request.family.specs())
    KIRSCH_RETURN_IF_ERROR(CheckSums(specs->member(0).spec, target));
  // One step, so that a signal between two searches is not lost.
  const Step step(arguments.observer, StepKind::kSearch);
  const std::shared_ptr<const CostModel> model = SharedCostModel(target);
  KeptWork kept(*model);
  SolveArguments own = arguments;
  own.kept = &kept;
  // A family that shares a constant is solved more than once, each time with other pins.
  const SolveMembers solve_members = [&](const SolveArguments& asked) {
    return SolveMembersOf(asked, request, target, memo, budget, sharing);
  };
  KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis solved,
                          SharesConstants(request)
                              ? SolveWithSharedPacking(own, request, target, memo, budget, solve_members)
                              : solve_members(own));
  // Reports say GOP/s instead of GFLOP/s where products are of integers.
  solved.regions.integers = IsOfIntegers(solved.members.front().program);
  solved.cold = arguments.cold;
  return solved;
}

std::string RegionShapes(const FamilySynthesis& synthesis) {
  const auto shapes = [&](const ProgramTree& program) {
    return PrintProgram(WriteProgram(program, synthesis.target()));
  };
  if (synthesis.members.size() == 1) return shapes(synthesis.members.front().program);
  std::string text;
  for (size_t i = 0; i < synthesis.regions.list.size(); ++i) {
    const Region& region = synthesis.regions.list[i];
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "\n",
           shapes(synthesis.shares() ? synthesis.shared[i] : synthesis.last(region).program));
  }
  return text;
}

std::string RegionPrograms(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return PrintTree(synthesis.members.front().program);
  std::string text;
  for (const Region& region : synthesis.regions.list) {
    const Synthesis& last = synthesis.last(region);
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the ",
           TreeName(last.program), " of ", last.name, "\n", PrintTree(last.program));
  }
  return text;
}

}  // namespace kirsch
