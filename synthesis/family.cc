// SPDX-License-Identifier: Apache-2.0
#include "synthesis/family.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "search/families/size_regions.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"
#include "spec/program/plan_program.h"
#include "spec/program/program.h"
#include "spec/text/cat.h"
#include "synthesis/shared_packing.h"
#include "synthesis/shared_plans.h"

namespace kirsch {
namespace {

MemberFacts FactsOf(const Synthesis& synthesis) {
  const SearchResult& result = synthesis.result;
  return {synthesis.parsed.text, result.stop,           result.stats.specs_solved,
          result.seconds,        ToCycles(result.cost), PredictedGflops(synthesis)};
}
MemberFacts FactsOf(const GraphSynthesis& synthesis) {
  const PlanResult& result = synthesis.result;
  return {result.plan.graph.name,    result.optimal ? StopReason::kOptimal : StopReason::kBudget,
          result.stats.specs_solved, result.seconds,
          result.plan.cycles,        PredictedGflops(synthesis)};
}

std::string DecisionOf(const Synthesis& synthesis) {
  return DecisionSpine(synthesis.result.impl, synthesis.parsed.swapped);
}
std::string DecisionOf(const GraphSynthesis& synthesis) { return PlanOutline(synthesis.result.plan); }

std::string ProgramText(const Synthesis& synthesis) { return PrintSchedule(synthesis.result.impl); }
std::string ProgramText(const GraphSynthesis& synthesis) { return PrintPlan(synthesis.result.plan); }

Program ShapesOf(const Synthesis& synthesis) { return ProgramOf(synthesis.result.impl, synthesis.target); }
Program ShapesOf(const GraphSynthesis& synthesis) {
  return ProgramOf(synthesis.result.plan, synthesis.target);
}
Program ShapesOf(const Member& member) {
  return std::visit([](const auto& synthesis) { return ShapesOf(synthesis); }, member);
}
Program ShapesOf(const FamilySynthesis& synthesis, size_t region) {
  if (!synthesis.shared.empty()) return ProgramOf(synthesis.shared[region], synthesis.target());
  if (!synthesis.plans.empty()) return ProgramOf(synthesis.plans[region], synthesis.target());
  return ShapesOf(LargestMember(synthesis, synthesis.regions.list[region]));
}

absl::StatusOr<Member> SolveMember(SolveArguments arguments, const KernelRequest& request, int64_t i,
                                   const Target& target, const std::shared_ptr<Memo>& memo,
                                   SearchBudget& budget) {
  if (request.graph) {
    absl::StatusOr<OrNoPlan<GraphSynthesis>> answer =
        SolveGraph(arguments, request.graph->member(i), request.source, target, memo, budget);
    const bool none = answer.ok() && std::holds_alternative<NoPlan>(*answer);
    if (none && !arguments.pins.packing.empty()) {
      // No such copy is in its space, or there is no time to find out: it reads what it can't have as it is.
      for (auto& [constant, copies] : arguments.pins.packing) copies.insert(PlainCopy{});
      answer = SolveGraph(arguments, request.graph->member(i), request.source, target, memo, budget);
    }
    absl::StatusOr<GraphSynthesis> solved = Require(std::move(answer));
    if (!solved.ok() && request.count() > 1)
      return absl::Status(solved.status().code(), Cat(std::string(solved.status().message()), " (for ",
                                                      MemberText(request.sizes(), i), ")"));
    if (!solved.ok()) return solved.status();
    return *std::move(solved);
  }
  arguments.time_budget = budget.Left();
  absl::StatusOr<Synthesis> solved = Solve(arguments, request.family.member(i), target, memo);
  if (!solved.ok()) return solved.status();
  if (solved->result.stop == StopReason::kCancelled) budget.End();
  return *std::move(solved);
}

// Which of the sizes is one that members may share programs for, and the dim of the spec that it is: its
// rows, its columns, or its reduction; nothing: they can't.
struct SharedSize {
  size_t number;
  int dim;
};
std::optional<SharedSize> SharedSizeOf(const SolveArguments& arguments, const KernelRequest& request) {
  if (request.graph || !arguments.tune.empty() || arguments.tuned) return std::nullopt;
  const std::vector<int> varying = request.family.varying();
  const ParsedSpec largest = request.family.member(request.count() - 1);
  const OpInfo& op = largest.spec.op_info();
  if (op.base != OpKind::kMatmul || !op.window.empty() || largest.spec.block_rows != 0) return std::nullopt;
  if (request.family.ranges()[MatmulDims::kB].high > 1) return std::nullopt;
  for (const int dim : {MatmulDims::kM, MatmulDims::kN, MatmulDims::kK}) {
    const bool turned = largest.swapped && dim != MatmulDims::kK;
    const int asked = !turned ? dim : dim == MatmulDims::kM ? MatmulDims::kN : MatmulDims::kM;
    const auto found = std::find(varying.begin(), varying.end(), asked);
    if (found != varying.end()) return SharedSize{static_cast<size_t>(found - varying.begin()), dim};
  }
  return std::nullopt;
}

// Solves a family whose members share programs, line by line of members that differ in one size.
class SizeSolver {
 public:
  // Of a member, if it costs less than the cutoff.
  using SolveOne = std::function<absl::StatusOr<Member>(int64_t member, Cost cutoff)>;

  SizeSolver(const SolveArguments& arguments, int dim, const CostModel& model,
             const std::shared_ptr<Memo>& memo, const SolveOne& solve, FamilySynthesis* synthesis)
      : arguments_(arguments),
        dim_(static_cast<size_t>(dim)),
        model_(model),
        memo_(memo),
        solve_(solve),
        synthesis_(*synthesis) {}

  absl::Status Solve() {
    solved_.resize(static_cast<size_t>(synthesis_.request.count()));
    synthesis_.members.resize(solved_.size());
    synthesis_.own.resize(solved_.size());
    synthesis_.bounds.resize(solved_.size());
    for (const std::vector<int64_t>& line : LinesAlong(synthesis_.regions.sizes, synthesis_.shared_size))
      if (absl::Status status = SolveLine(line); !status.ok()) return status;
    for (const Member& member : synthesis_.members)
      synthesis_.regions.gflops.push_back(FactsOf(member).gflops);
    synthesis_.SetLosses();
    return absl::OkStatus();
  }

 private:
  using Line = absl::Span<const int64_t>;  // of members that are neighbours

  // Neighbours that are all solved as they are, or all as their transposes.
  absl::Status SolveLine(Line line) {
    const auto swapped = [&](size_t i) { return synthesis_.request.family.member(line[i]).swapped; };
    for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      while (end < line.size() && swapped(end) == swapped(begin)) ++end;
      if (absl::Status status = SolvePart(line.subspan(begin, end - begin)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status SolvePart(Line line) {
    std::vector<Spec> roots;
    for (int64_t member : line) roots.push_back(RootOf(member));
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      const auto member = static_cast<size_t>(line[i]);
      absl::StatusOr<Member> one = solve_(line[i], cutoff);
      if (!one.ok()) return one.status();
      const SearchResult result = std::get<Synthesis>(*one).result;
      if (result.stop == StopReason::kCutoff || result.cost >= cutoff) {
        synthesis_.before.Add(result);
      } else {
        solved_[member] = std::get<Synthesis>(*std::move(one));
        synthesis_.own[member] = OwnProgram{result.impl.decision, result.cost};
      }
      return SolvedSize{result.impl, result.cost, result.bound};
    };
    absl::StatusOr<SizeFamily> family = FindSizeRegions(roots, dim_, model_, solve);
    if (!family.ok()) return family.status();
    for (SizeRegion& region : family->regions) AddRegion(line, &region);
    for (size_t i = 0; i < line.size(); ++i) AddMember(line[i], &family->members[i]);
    return absl::OkStatus();
  }

  Spec RootOf(int64_t member) const {
    const ParsedSpec parsed = synthesis_.request.family.member(member);
    return PlacedRequest(arguments_, parsed, model_.target()).placed_root;
  }

  void AddRegion(Line line, SizeRegion* region) {
    const Synthesis& chosen = *solved_[static_cast<size_t>(line[region->representative])];
    DispatchRange added =
        RegionOf(synthesis_.regions.sizes, line.subspan(region->first, region->last - region->first + 1));
    added.decision = DecisionSpine(chosen.result.impl, chosen.parsed.swapped);
    synthesis_.regions.list.push_back(std::move(added));
    synthesis_.shared.push_back(std::move(region->program));
  }

  void AddMember(int64_t of_family, SizeMember* member) {
    const auto number = static_cast<size_t>(of_family);
    Synthesis synthesis{synthesis_.request.family.member(of_family), model_.target(), {}, memo_, 0, 0, {}};
    if (solved_[number]) synthesis = *solved_[number];
    synthesis.result.impl = std::move(member->program);
    synthesis.result.cost = member->cost;
    synthesis_.bounds[number] = member->bound;
    synthesis_.members[number] = std::move(synthesis);
  }

  const SolveArguments& arguments_;
  const size_t dim_;
  const CostModel& model_;
  const std::shared_ptr<Memo> memo_;
  const SolveOne& solve_;
  FamilySynthesis& synthesis_;
  std::vector<std::optional<Synthesis>> solved_;
};

// Of members that all have programs of their own: the regions of equal decisions.
FamilySynthesis WithOwnRegions(FamilySynthesis synthesis) {
  synthesis.shared.clear();
  synthesis.regions.losses.clear();
  std::vector<std::string> decisions;
  for (const Member& member : synthesis.members)
    decisions.push_back(std::visit([](const auto& one) { return DecisionOf(one); }, member));
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, decisions);
  return synthesis;
}

// Members that differ in one size share programs if they may.
absl::StatusOr<FamilySynthesis> SolveMembersOf(const SolveArguments& arguments, const KernelRequest& request,
                                               const Target& target, const std::shared_ptr<Memo>& memo,
                                               SearchBudget& budget, CodeSharing sharing) {
  const bool integers =
      request.graph ? IsOfIntegers(request.graph->member(0)) : IsOfIntegers(request.family.member(0).spec);
  FamilySynthesis synthesis{request, {}, {request.sizes(), {}, integers, {}, {}}};
  const std::optional<SharedSize> shared =
      sharing == CodeSharing::kSizes ? SharedSizeOf(arguments, request) : std::nullopt;
  const auto solve = [&](int64_t i, Cost cutoff) {
    SolveArguments own = arguments;
    own.pins.cutoff = cutoff;
    own.pins.first_place = shared.has_value();
    if (request.count() > 1) Append(&own.progress, "member ", i + 1, " of ", request.count(), ", ");
    const Step step(arguments.observer, StepKind::kSearch);
    step.Tell(own.progress + "searching");
    return SolveMember(own, request, i, target, memo, budget);
  };
  if (sharing == CodeSharing::kSizes)
    for (const SharedPlanSize& size : SharedPlanSizesOf(arguments, request)) {
      const absl::StatusOr<bool> shared = SharePlans(
          arguments, size, target, memo, budget, [&](int64_t i) { return solve(i, kInfiniteCost); },
          &synthesis);
      if (!shared.ok()) return shared.status();
      if (*shared) return synthesis;
    }
  if (shared) {
    synthesis.shared_size = shared->number;
    const CostModel model(target);
    if (absl::Status status = SizeSolver(arguments, shared->dim, model, memo, solve, &synthesis).Solve();
        !status.ok())
      return status;
    if (synthesis.shared.size() < synthesis.members.size()) return synthesis;
    return WithOwnRegions(std::move(synthesis));
  }
  for (int64_t i = 0; i < request.count(); ++i) {
    absl::StatusOr<Member> solved = solve(i, kInfiniteCost);
    if (!solved.ok()) return solved.status();
    synthesis.regions.gflops.push_back(FactsOf(*solved).gflops);
    if (const auto* spec = std::get_if<Synthesis>(&*solved)) {
      synthesis.own.emplace_back(OwnProgram{spec->result.impl.decision, spec->result.cost});
      synthesis.bounds.push_back(spec->result.bound);
    }
    synthesis.members.push_back(*std::move(solved));
  }
  return WithOwnRegions(std::move(synthesis));
}

}  // namespace

MemberFacts FactsOf(const Member& member) {
  return std::visit([](const auto& synthesis) { return FactsOf(synthesis); }, member);
}

std::string ProgramText(const Member& member) {
  return std::visit([](const auto& synthesis) { return ProgramText(synthesis); }, member);
}

const Member& LargestMember(const FamilySynthesis& synthesis, const DispatchRange& region) {
  return synthesis.members[static_cast<size_t>(region.largest())];
}

const Target& FamilySynthesis::target() const {
  return std::visit([](const auto& synthesis) -> const Target& { return synthesis.target; }, members.front());
}

// That there is nothing below a cutoff is what was to be found out.
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
  for (const Member& member : synthesis.members) {
    const MemberFacts facts = FactsOf(member);
    effort.Add({facts.stop, facts.specs, facts.seconds});
  }
  return effort;
}

void FamilySynthesis::SetLosses() {
  regions.losses.assign(members.size(), std::nullopt);
  const auto loss = [&](size_t i, Cost best) { return FactsOf(members[i]).cycles / ToCycles(best) - 1; };
  for (size_t i = 0; i < members.size(); ++i)
    if (own[i])
      regions.losses[i] = MemberLoss{loss(i, own[i]->cost), true};
    else if (bounds[i] != 0)
      regions.losses[i] = MemberLoss{loss(i, bounds[i]), false};
}

absl::Status CheckFamily(const SolveArguments& arguments, const KernelRequest& request) {
  const int64_t count = request.count();
  const std::string name = request.label.empty() ? "SPEC" : request.label;
  const bool tuned = !arguments.tune.empty() || arguments.tuned;
  if (SharesConstants(request) && tuned)
    return absl::InvalidArgumentError(
        Cat(request.name, ": expected a single size where programs are tuned and a parameter is constant"));
  if (request.graph) return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
  if (absl::Status threads = CheckThreads(arguments, request.family.member(0).spec); !threads.ok())
    return threads;
  if (count == 1 || ConstantOperand(request.family.member(0).spec) < 0)
    return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
  if (!request.family.SharesConstant())
    return absl::InvalidArgumentError(
        Cat(name, ": expected a single size that varies, and none of those that the constant operand has"));
  if (tuned)
    return absl::InvalidArgumentError(
        Cat(name, ": expected a single size where programs are tuned and an operand is constant"));
  return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
}

absl::Status NotPinned() {
  return absl::InvalidArgumentError("--schedule: expected a single kernel for a single target to follow it");
}

namespace {

absl::StatusOr<FamilySynthesis> WithCold(const std::string& cold, absl::StatusOr<FamilySynthesis> solved) {
  if (solved.ok()) solved->cold = cold;
  return solved;
}

}  // namespace

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget, CodeSharing sharing) {
  if (absl::Status status = CheckFamily(arguments, request); !status.ok()) return status;
  const SolveMembers solve_members = [&](const SolveArguments& asked) {
    return SolveMembersOf(asked, request, target, memo, budget, sharing);
  };
  if (request.count() > 1 && !request.graph && request.family.SharesConstant())
    return WithCold(arguments.cold,
                    SolveWithSharedCopy(arguments, request, target, memo, budget, solve_members));
  if (SharesConstants(request))
    return WithCold(arguments.cold,
                    SolveWithSharedPacking(arguments, request, target, memo, budget, solve_members));
  return WithCold(arguments.cold, solve_members(arguments));
}

std::string RegionShapes(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return PrintProgram(ShapesOf(synthesis.members.front()));
  std::string text;
  for (size_t i = 0; i < synthesis.regions.list.size(); ++i)
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, synthesis.regions.list[i]),
           "\n", PrintProgram(ShapesOf(synthesis, i)));
  return text;
}

std::string RegionPrograms(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return ProgramText(synthesis.members.front());
  std::string text;
  for (const DispatchRange& region : synthesis.regions.list) {
    const Member& largest = LargestMember(synthesis, region);
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the ",
           synthesis.program_word(), " of ", FactsOf(largest).name, "\n", ProgramText(largest));
  }
  return text;
}

}  // namespace kirsch
