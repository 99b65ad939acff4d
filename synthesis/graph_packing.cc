// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/families/common_packing.h"
#include "search/graph/known_groups.h"
#include "spec/language/family.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/graph_kernel.h"
#include "synthesis/shared_packing.h"

namespace kirsch {
namespace {

// "1:0.7,64:0.3"; of several sizes "m 1:0.7,64:0.3; n 1/n as often". Empty: a size n 1/n as often.
std::string MixtureText(const GraphFamily& family) {
  if (family.sizes().size() == 1) return PrintMixture(family.mixtures().front());
  std::string text;
  bool any = false;
  for (size_t i = 0; i < family.sizes().size(); ++i) {
    const std::vector<SizeShare>& mixture = family.mixtures()[i];
    any |= !mixture.empty();
    Append(&text, text.empty() ? "" : "; ", family.sizes()[i].name, " ",
           mixture.empty() ? "1/n as often" : PrintMixture(mixture));
  }
  return any ? text : "";
}

// Solves a family of graphs whose members share packed constants. Members are searched alone first, for what
// each would like. Then the packing is chosen that costs the mixture least, and all members are solved with
// it.
//
// Two things must be the same for all members: which operations are folded, and how each constant is packed.
// Each choice of folded operations is tried in turn, with its best packing.
class SharedPackingSolver {
 public:
  SharedPackingSolver(const SolveArguments& arguments, const KernelRequest& request, const Target& target,
                      const std::shared_ptr<Memo>& memo, SearchBudget& budget)
      : arguments_(arguments), request_(request), target_(target), memo_(memo), budget_(budget) {}

  absl::StatusOr<FamilySynthesis> Solve(const SolveMembers& solve_members) {
    // 1. Each member that counts, as it is best. 2. The best packing for each choice of folded operations.
    KIRSCH_RETURN_IF_ERROR(SolveAlone());
    for (const std::vector<int>& folded : Choices()) {
      if (folded_ && Stopped()) break;
      KIRSCH_RETURN_IF_ERROR(Try(folded));
    }
    knowledge_.clear();
    // 3. All members with the choice that has won.
    SolveArguments packed = arguments_;
    packed.pins.packing = best_.packing;
    packed.pins.folded = folded_;
    KIRSCH_ASSIGN_OR_RETURN(FamilySynthesis all, solve_members(packed));
    // 4. One packed buffer for all plans; then what the packing is, and what each member loses by it.
    Share(&all);
    const auto& first = std::get<Plan>(all.shares() ? all.shared.front() : all.members.front().program);
    all.packing = SharedPacking{
        "packing", PrintPacking(FindPacking(first), std::get<Plan>(all.members.front().program).graph),
        MixtureText(*request_.family.graphs()), best_.loss};
    all.before.Add(effort_);
    SetLosses(&all);
    return all;
  }

 private:
  // Solves the members that have a weight above 0, each as it is best. A member's weight is the product of
  // the weights of its sizes.
  absl::Status SolveAlone() {
    const std::vector<VaryingSize> sizes = request_.sizes();
    std::vector<std::vector<double>> weights;
    for (size_t size = 0; size < sizes.size(); ++size) {
      KIRSCH_ASSIGN_OR_RETURN(std::vector<double> of_size, WeightsOf(sizes, size));
      weights.push_back(std::move(of_size));
    }
    for (int64_t member = 0; member < request_.count(); ++member) {
      const std::vector<uint32_t> values = ValuesOf(sizes, member);
      double weight = 1;
      for (size_t size = 0; size < sizes.size(); ++size) {
        const std::vector<uint32_t>& all = sizes[size].values;
        weight *= weights[size][static_cast<size_t>(std::lower_bound(all.begin(), all.end(), values[size]) -
                                                    all.begin())];
      }
      if (weight == 0 || (Stopped() && !alone_.empty() && !found_.contains(member))) continue;
      KIRSCH_ASSIGN_OR_RETURN(const Plan* own, Alone(member));
      numbers_.push_back(member);
      weights_.push_back(weight);
      alone_.push_back(*own);
    }
    return absl::OkStatus();
  }

  // The weight of each value of a size: its share in the mixture. Without a mixture a size n counts 1/n
  // times; then a few stand for those between them, so that few members are searched: usual sizes, the more
  // of them the more their members differ in how they are packed alone. The other sizes are at their most.
  absl::StatusOr<std::vector<double>> WeightsOf(const std::vector<VaryingSize>& sizes, size_t size) {
    const std::vector<uint32_t>& values = sizes[size].values;
    const std::vector<SizeShare>& mixture = request_.family.graphs()->mixtures()[size];
    const auto place = [&](uint32_t value) {
      return static_cast<size_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
    };
    std::vector<double> weights(values.size(), 0);
    for (const SizeShare& part : mixture) weights[place(part.size)] = part.share;
    if (!mixture.empty()) return weights;
    // Of usual sizes each is at most a fourth of the next one, apart from the first. Rules are mostly
    // searched for such sizes, too (PlanRegionFinder), and ask for much of what is known then.
    const std::vector<uint32_t> all = UsualSizesBetween(values.front(), values.back());
    std::vector<size_t> usual = {values.size() - 1};
    for (auto value = all.rbegin(); value != all.rend(); ++value)
      if (*value <= values[usual.back()] / 4) usual.push_back(place(*value));
    if (usual.back() != 0) usual.push_back(0);
    std::reverse(usual.begin(), usual.end());
    int64_t apart = 1;  // from a member to the one with the size's next value
    for (size_t behind = size + 1; behind < sizes.size(); ++behind) apart *= std::ssize(sizes[behind].values);
    std::vector<int64_t> members;
    for (size_t value : usual)
      members.push_back(request_.count() - 1 - static_cast<int64_t>(values.size() - 1 - value) * apart);
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<bool> marked, MarkRepresentatives(members));
    std::vector<bool> count(values.size());
    for (size_t i = 0; i < usual.size(); ++i) count[usual[i]] = marked[i];
    return WeightsWithoutMixture(sizes[size], count);
  }

  // Marks the first, the last and a middle one of these members, and goes on so between two that are packed
  // differently.
  absl::StatusOr<std::vector<bool>> MarkRepresentatives(const std::vector<int64_t>& members) {
    std::vector<bool> marked(members.size());
    std::vector<std::pair<size_t, size_t>> open = {{0, members.size() - 1}};
    for (bool all = true; !open.empty(); all = false) {
      const auto [low, high] = open.back();
      open.pop_back();
      marked[low] = marked[high] = true;
      const absl::StatusOr<const Plan*> first = Alone(members[low]), last = Alone(members[high]);
      if (!first.ok() || !last.ok()) return first.ok() ? last.status() : first.status();
      const bool alike = (*first)->graph.FoldedOperations() == (*last)->graph.FoldedOperations() &&
                         FindPacking(**first) == FindPacking(**last);
      if (high - low < 2 || (alike && !all) || Stopped()) continue;
      open.emplace_back((low + high) / 2, high);
      open.emplace_back(low, (low + high) / 2);
    }
    return marked;
  }

  // The plan of a member as it is best. It is searched for once.
  absl::StatusOr<const Plan*> Alone(int64_t member) {
    const auto known = found_.find(member);
    if (known != found_.end()) return &known->second;
    KIRSCH_ASSIGN_OR_RETURN(PlanResult own, Require(SolveOne(member, arguments_, "as it is best")));
    return &found_.emplace(member, std::move(own.plan)).first->second;
  }

  // The choices of folded operations to try: those that members make alone. Only if the graphs agree on these
  // operations, as nodes are known by their numbers; else nothing is folded.
  std::vector<std::vector<int>> Choices() const {
    std::vector<std::vector<int>> choices;
    for (const Plan& plan : alone_) {
      std::vector<int> folded = plan.graph.FoldedOperations();
      if (std::find(choices.begin(), choices.end(), folded) == choices.end())
        choices.push_back(std::move(folded));
    }
    for (const Plan& plan : alone_)
      for (const std::vector<int>& choice : choices)
        for (int node : choice)
          if (node >= static_cast<int>(plan.graph.nodes.size()) ||
              plan.graph.at(node).op != alone_.front().graph.at(node).op ||
              plan.graph.at(node).inputs != alone_.front().graph.at(node).inputs)
            return {{}};
    return choices;
  }

  // Finds the best packing if all members fold exactly `folded`, and keeps it if it is the best so far.
  // Nothing changes if some member has no plan with that.
  absl::Status Try(const std::vector<int>& folded) {
    SolveArguments asked = arguments_;
    asked.pins.folded = folded;
    std::vector<PackedMember> members;
    PackingCandidates candidates;
    double own = 0, alone = 0;
    for (size_t i = 0; i < alone_.size(); ++i) {
      Plan plan = alone_[i];
      // A member that folds something else when alone is solved once more.
      if (plan.graph.FoldedOperations() != folded) {
        KIRSCH_ASSIGN_OR_RETURN(OrNoPlan<PlanResult> solved,
                                SolveOne(numbers_[i], asked, "one packing for all"));
        if (std::holds_alternative<NoPlan>(solved)) return absl::OkStatus();
        plan = std::get<PlanResult>(std::move(solved)).plan;
      }
      members.push_back({weights_[i], plan.cycles, FindPacking(plan)});
      AddCandidates(plan, target_, &candidates);
      own += weights_[i] * plan.cycles;
      alone += weights_[i] * alone_[i].cycles;
    }
    KIRSCH_ASSIGN_OR_RETURN(
        CommonPacking packing,
        FindCommonPacking(members, candidates, [&](size_t i, const PlanPacking& packed, double cutoff) {
          asked.pins.packing = packed;
          asked.pins.most_cycles = cutoff;
          return Price(numbers_[i], asked);
        }));
    // The loss is against these members' plans with `folded`. Choices are compared by the loss against the
    // plans that members have alone.
    packing.loss = (1 + packing.loss) * own / alone - 1;
    if (folded_ && packing.loss >= best_.loss) return absl::OkStatus();
    best_ = std::move(packing);
    folded_ = folded;
    return absl::OkStatus();
  }

  // The cycles of a member with a pinned packing; infinity if it has no plan, the cutoff if none is cheaper.
  absl::StatusOr<double> Price(int64_t member, const SolveArguments& asked) {
    // Without time the best packing so far stays, or else the first one is taken; SolveMember goes on from
    // there.
    if (Stopped()) return std::isfinite(asked.pins.most_cycles) ? asked.pins.most_cycles : 0;
    KIRSCH_ASSIGN_OR_RETURN(const OrNoPlan<PlanResult> solved,
                            SolveOne(member, asked, "one packing for all"));
    if (std::holds_alternative<NoPlan>(solved)) return std::numeric_limits<double>::infinity();
    const Plan& plan = std::get<PlanResult>(solved).plan;
    return plan.nests.empty() ? asked.pins.most_cycles : plan.cycles;
  }

  bool Stopped() const {
    return budget_.IsOver(arguments_.observer != nullptr ? arguments_.observer->stop() : nullptr);
  }

  // Searches for the plan of one member, with what `asked` pins, and counts the effort. `what` is for the
  // observer.
  absl::StatusOr<OrNoPlan<PlanResult>> SolveOne(int64_t member, SolveArguments asked,
                                                const std::string& what) {
    asked.explain = false;  // this is not the plan that is shown
    asked.pins.knowledge = &knowledge_[member];
    const Step step(arguments_.observer, StepKind::kSearch);
    step.Tell(
        Cat(arguments_.progress, "member ", member + 1, " of ", request_.count(), ", ", what, ", searching"));
    bool cancelled = false;
    absl::StatusOr<OrNoPlan<PlanResult>> solved =
        SolveGraph(asked, request_.family.graphs()->member(member), request_.source, target_, memo_, budget_,
                   &cancelled);
    if (!solved.ok() || std::holds_alternative<NoPlan>(*solved)) return solved;
    const PlanResult& result = std::get<PlanResult>(*solved);
    effort_.Add({result.stop, result.stats.specs_solved, result.seconds});
    return solved;
  }

  // Gives the plans of all members, or of all regions, one packed buffer.
  static void Share(FamilySynthesis* all) {
    std::vector<Plan*> plans;
    for (ProgramTree& plan : all->shared) plans.push_back(&std::get<Plan>(plan));
    for (Synthesis& member : all->members) {
      auto& plan = std::get<Plan>(member.program);
      if (!plan.nests.empty()) plans.push_back(&plan);
    }
    SharePacking(plans);
  }

  // Only members that were solved alone have something to compare with.
  void SetLosses(FamilySynthesis* all) const {
    all->regions.losses.assign(all->members.size(), std::nullopt);
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const auto member = static_cast<size_t>(numbers_[i]);
      all->regions.losses[member] = MemberLoss{all->members[member].cycles / alone_[i].cycles - 1, true};
    }
  }

  const SolveArguments& arguments_;
  const KernelRequest& request_;
  const Target& target_;
  const std::shared_ptr<Memo> memo_;
  SearchBudget& budget_;
  std::map<int64_t, PlanKnowledge> knowledge_;  // by member
  std::map<int64_t, Plan> found_;               // of members that were searched alone
  std::vector<int64_t> numbers_;                // of those that count; the next two are in their order
  std::vector<double> weights_;
  std::vector<Plan> alone_;
  std::optional<std::vector<int>> folded_;  // with what is constant-folded,
  CommonPacking best_;                      // the best packing so far
  SearchEffort effort_;
};

}  // namespace

absl::StatusOr<FamilySynthesis> SolveGraphsWithSharedPacking(
    const SolveArguments& arguments, const KernelRequest& request, const Target& target,
    const std::shared_ptr<Memo>& memo, SearchBudget& budget, const SolveMembers& solve_members) {
  return SharedPackingSolver(arguments, request, target, memo, budget).Solve(solve_members);
}

}  // namespace kirsch
