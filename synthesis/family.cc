// SPDX-License-Identifier: Apache-2.0
#include "synthesis/family.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "search/families/size_regions.h"
#include "spec/program/program.h"
#include "spec/program/program_tree.h"
#include "spec/text/cat.h"
#include "synthesis/shared_packing.h"
#include "synthesis/shared_plans.h"

namespace kirsch {
namespace {

// What is decided, on one line, whatever the sizes.
std::string DecisionOf(const ProgramTree& program, const KernelMember& asked) {
  const auto* const plan = std::get_if<Plan>(&program);
  return plan != nullptr ? PlanOutline(*plan)
                         : DecisionSpine(std::get<Impl>(program), std::get<ParsedSpec>(asked).swapped);
}

absl::StatusOr<Synthesis> SolveMember(SolveArguments arguments, const KernelRequest& request, int64_t i,
                                      const Target& target, const std::shared_ptr<Memo>& memo,
                                      SearchBudget& budget) {
  const KernelMember asked = request.family.member(i);
  absl::StatusOr<OrNoPlan<Synthesis>> answer = Solve(arguments, asked, request.source, target, memo, budget);
  const bool none = answer.ok() && std::holds_alternative<NoPlan>(*answer);
  if (none && !arguments.pins.packing.empty()) {
    // No such copy is in its space, or there is no time to find out: it reads what it can't have as it is.
    for (auto& [constant, copies] : arguments.pins.packing) copies.insert(PlainCopy{});
    answer = Solve(arguments, asked, request.source, target, memo, budget);
  }
  absl::StatusOr<Synthesis> solved = Require(std::move(answer));
  if (!solved.ok() && request.count() > 1 && std::holds_alternative<Graph>(asked))
    return absl::Status(solved.status().code(), Cat(std::string(solved.status().message()), " (for ",
                                                    MemberText(request.sizes(), i), ")"));
  return solved;
}

// Which of the sizes is one that members may share programs for, and the dim of the spec that it is: its
// rows, its columns, or its reduction; nothing: they can't.
struct SharedSize {
  size_t number;
  int dim;
};
std::optional<SharedSize> FindSharedSize(const SolveArguments& arguments, const KernelRequest& request) {
  const SpecFamily* const family = request.family.specs();
  if (family == nullptr || !arguments.tune.empty() || arguments.tuned) return std::nullopt;
  const std::vector<int> varying = family->varying();
  const ParsedSpec largest = family->member(family->count() - 1);
  const OpInfo& op = largest.spec.op_info();
  if (op.base != OpKind::kMatmul || !op.window.empty() || largest.spec.block_rows != 0) return std::nullopt;
  if (family->ranges()[MatmulDims::kB].high > 1) return std::nullopt;
  for (const int dim : {MatmulDims::kM, MatmulDims::kN, MatmulDims::kK}) {
    const bool turned = largest.swapped && dim != MatmulDims::kK;
    const int asked = !turned ? dim : dim == MatmulDims::kM ? MatmulDims::kN : MatmulDims::kM;
    const auto found = std::find(varying.begin(), varying.end(), asked);
    if (found != varying.end()) return SharedSize{static_cast<size_t>(found - varying.begin()), dim};
  }
  return std::nullopt;
}

// Solves a family of specs whose members share programs, line by line of members that differ in one size.
class SizeSolver {
 public:
  // Of a member, if it costs less than the cutoff.
  using SolveOne = std::function<absl::StatusOr<SearchResult>(int64_t member, Cost cutoff)>;

  SizeSolver(const SolveArguments& arguments, int dim, const CostModel& model,
             const std::shared_ptr<Memo>& memo, const SolveOne& solve, FamilySynthesis* synthesis)
      : arguments_(arguments),
        dim_(static_cast<size_t>(dim)),
        model_(model),
        memo_(memo),
        solve_(solve),
        synthesis_(*synthesis),
        family_(*synthesis->request.family.specs()) {}

  absl::Status Solve() {
    solved_.resize(static_cast<size_t>(family_.count()));
    synthesis_.members.resize(solved_.size());
    synthesis_.own.resize(solved_.size());
    synthesis_.bounds.resize(solved_.size());
    for (const std::vector<int64_t>& line : LinesAlong(synthesis_.regions.sizes, synthesis_.shared_size))
      if (absl::Status status = SolveLine(line); !status.ok()) return status;
    for (const Synthesis& member : synthesis_.members) synthesis_.regions.gflops.push_back(member.gflops());
    synthesis_.SetLosses();
    return absl::OkStatus();
  }

 private:
  using Line = absl::Span<const int64_t>;  // of members that are neighbours

  // Neighbours that are all solved as they are, or all as their transposes.
  absl::Status SolveLine(Line line) {
    const auto swapped = [&](size_t i) { return family_.member(line[i]).swapped; };
    for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      while (end < line.size() && swapped(end) == swapped(begin)) ++end;
      if (absl::Status status = SolvePart(line.subspan(begin, end - begin)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status SolvePart(Line line) {
    std::vector<Spec> roots;
    for (int64_t member : line)
      roots.push_back(PlacedRequest(arguments_, family_.member(member), model_.target()).placed_root);
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      const auto member = static_cast<size_t>(line[i]);
      absl::StatusOr<SearchResult> result = solve_(line[i], cutoff);
      if (!result.ok()) return result.status();
      if (result->stop == StopReason::kCutoff || result->cost >= cutoff) {
        synthesis_.before.Add(*result);
      } else {
        solved_[member] = *result;
        synthesis_.own[member] = OwnProgram{result->impl.decision, ToCycles(result->cost)};
      }
      return SolvedSize{std::move(result->impl), result->cost, result->bound};
    };
    absl::StatusOr<SizeFamily> found = FindSizeRegions(roots, dim_, model_, solve);
    if (!found.ok()) return found.status();
    for (SizeRegion& region : found->regions) AddRegion(line, &region);
    for (size_t i = 0; i < line.size(); ++i) AddMember(line[i], &found->members[i]);
    return absl::OkStatus();
  }

  void AddRegion(Line line, SizeRegion* region) {
    const int64_t chosen = line[region->representative];
    DispatchRange added =
        RegionOf(synthesis_.regions.sizes, line.subspan(region->first, region->last - region->first + 1));
    added.decision =
        DecisionSpine(solved_[static_cast<size_t>(chosen)]->impl, family_.member(chosen).swapped);
    synthesis_.regions.list.push_back(std::move(added));
    synthesis_.shared.emplace_back(std::move(region->program));
  }

  void AddMember(int64_t of_family, SizeMember* member) {
    const auto number = static_cast<size_t>(of_family);
    SearchResult result = solved_[number].value_or(SearchResult());
    result.impl = std::move(member->program);
    result.cost = member->cost;
    synthesis_.bounds[number] = ToCycles(member->bound);
    synthesis_.members[number] =
        MakeSynthesis(family_.member(of_family), model_.target(), std::move(result), memo_);
  }

  const SolveArguments& arguments_;
  const size_t dim_;
  const CostModel& model_;
  const std::shared_ptr<Memo> memo_;
  const SolveOne& solve_;
  FamilySynthesis& synthesis_;
  const SpecFamily& family_;
  std::vector<std::optional<SearchResult>> solved_;
};

// Of members that all have programs of their own: the regions of equal decisions.
FamilySynthesis WithOwnRegions(FamilySynthesis synthesis) {
  synthesis.shared.clear();
  synthesis.regions.losses.clear();
  std::vector<std::string> decisions;
  for (size_t i = 0; i < synthesis.members.size(); ++i)
    decisions.push_back(
        DecisionOf(synthesis.members[i].program, synthesis.request.family.member(static_cast<int64_t>(i))));
  synthesis.regions.list = FindRegions(synthesis.regions.sizes, decisions);
  return synthesis;
}

// Members that differ in one size share programs if they may.
absl::StatusOr<FamilySynthesis> SolveMembersOf(const SolveArguments& arguments, const KernelRequest& request,
                                               const Target& target, const std::shared_ptr<Memo>& memo,
                                               SearchBudget& budget, CodeSharing sharing) {
  FamilySynthesis synthesis{request, {}, {request.sizes(), {}, false, {}, {}}};
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
    for (const SharedPlanSize& size : FindSharedPlanSizes(arguments, request)) {
      const absl::StatusOr<bool> shared =
          SharePlans(arguments, size, target, memo, budget, solve, &synthesis);
      if (!shared.ok()) return shared.status();
      if (*shared) return synthesis;
    }
  const CostModel model(target);
  const std::optional<SharedSize> shared =
      sharing == CodeSharing::kSizes ? FindSharedSize(arguments, request) : std::nullopt;
  if (shared) {
    synthesis.shared_size = shared->number;
    const auto search = [&](int64_t i, Cost cutoff) {
      return with_progress(i, [&](SolveArguments own) {
        own.pins.cutoff = cutoff;
        own.pins.first_place = true;
        return SolveSpec(own, request.family.specs()->member(i), model, *memo, budget);
      });
    };
    if (absl::Status status = SizeSolver(arguments, shared->dim, model, memo, search, &synthesis).Solve();
        !status.ok())
      return status;
    if (synthesis.shared.size() < synthesis.members.size()) return synthesis;
    return WithOwnRegions(std::move(synthesis));
  }
  for (int64_t i = 0; i < request.count(); ++i) {
    absl::StatusOr<Synthesis> solved = solve(i);
    if (!solved.ok()) return solved.status();
    synthesis.regions.gflops.push_back(solved->gflops());
    if (const auto* const impl = std::get_if<Impl>(&solved->program)) {
      synthesis.own.emplace_back(OwnProgram{impl->decision, solved->cycles});
      synthesis.bounds.push_back(solved->bound_cycles);
    }
    synthesis.members.push_back(*std::move(solved));
  }
  return WithOwnRegions(std::move(synthesis));
}

}  // namespace

std::vector<const ProgramTree*> FamilySynthesis::programs() const {
  std::vector<const ProgramTree*> programs;
  for (const Synthesis& member : members) programs.push_back(&member.program);
  return programs;
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

absl::Status CheckFamily(const SolveArguments& arguments, const KernelRequest& request) {
  const int64_t count = request.count();
  const std::string name = request.label.empty() ? "SPEC" : request.label;
  const bool tuned = !arguments.tune.empty() || arguments.tuned;
  if (const SpecFamily* const specs = request.family.specs()) {
    const Spec first = specs->member(0).spec;
    if (absl::Status threads = CheckThreads(arguments, first); !threads.ok()) return threads;
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
  return count > 1 && !arguments.schedule.empty() ? NotPinned() : absl::OkStatus();
}

absl::Status NotPinned() {
  return absl::InvalidArgumentError("--schedule: expected a single kernel for a single target to follow it");
}

absl::StatusOr<FamilySynthesis> SolveFamily(const SolveArguments& arguments, const KernelRequest& request,
                                            const Target& target, const std::shared_ptr<Memo>& memo,
                                            SearchBudget& budget, CodeSharing sharing) {
  if (absl::Status status = CheckFamily(arguments, request); !status.ok()) return status;
  const SolveMembers solve_members = [&](const SolveArguments& asked) {
    return SolveMembersOf(asked, request, target, memo, budget, sharing);
  };
  absl::StatusOr<FamilySynthesis> solved =
      SharesConstants(request)
          ? SolveWithSharedPacking(arguments, request, target, memo, budget, solve_members)
          : solve_members(arguments);
  if (!solved.ok()) return solved;
  solved->regions.integers = IsOfIntegers(solved->members.front().program);
  solved->cold = arguments.cold;
  return solved;
}

std::string RegionShapes(const FamilySynthesis& synthesis) {
  const auto shapes = [&](const ProgramTree& program) {
    return PrintProgram(WriteProgram(program, synthesis.target()));
  };
  if (synthesis.members.size() == 1) return shapes(synthesis.members.front().program);
  std::string text;
  for (size_t i = 0; i < synthesis.regions.list.size(); ++i) {
    const DispatchRange& region = synthesis.regions.list[i];
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "\n",
           shapes(synthesis.shares() ? synthesis.shared[i] : synthesis.largest(region).program));
  }
  return text;
}

std::string RegionPrograms(const FamilySynthesis& synthesis) {
  if (synthesis.members.size() == 1) return PrintTree(synthesis.members.front().program);
  std::string text;
  for (const DispatchRange& region : synthesis.regions.list) {
    const Synthesis& largest = synthesis.largest(region);
    Append(&text, text.empty() ? "" : "\n", "# ", RegionText(synthesis.regions, region), "; the ",
           TreeName(largest.program), " of ", largest.name, "\n", PrintTree(largest.program));
  }
  return text;
}

}  // namespace kirsch
