// SPDX-License-Identifier: Apache-2.0
#include "search/families/row_regions.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/row_count_schedule.h"
#include "search/families/rule_costs.h"

namespace kirsch {
namespace {

// A plan that is no rule for other sizes than its own.
class OwnPlan : public PlanRule {
 public:
  OwnPlan(Plan plan, int64_t size) : plan_(std::move(plan)), size_(size) {}

  int64_t least() const override { return size_; }
  int64_t most() const override { return size_; }
  double CyclesFor(int64_t size) override {
    return size == size_ ? plan_.cycles : std::numeric_limits<double>::infinity();
  }
  std::optional<Plan> ApplyToRange(int64_t, int64_t) override { return plan_; }

 private:
  const Plan plan_;
  const int64_t size_;
};

class RowFinder : public RuleFinder {
 public:
  explicit RowFinder(const PlanMembers& members) : members_(members) {}

  absl::StatusOr<Rules> Find(size_t member, double cutoff) override {
    PlanOptions options = members_.options;
    options.cutoff = cutoff;
    options.any_rows = true;
    absl::StatusOr<OrNoPlan<PlanResult>> answer = members_.Search(member, options);
    if (!answer.ok()) return answer.status();
    auto* const result = std::get_if<PlanResult>(&*answer);
    if (result == nullptr || result->plan.nests.empty()) return Rules();
    // A neighbour, which need not be one of the members.
    const int64_t size = members_.SizeOf(member), other = member == 0 ? size + 1 : size - 1;
    Rules rules;
    const double own = result->plan.cycles;
    std::shared_ptr<PlanRule> rule = RowCountSchedule::Create(
        result->plan, size, CanonicalGraph(members_.graph_of(other)), other, members_.model);
    // Rules choose register tiles themselves, which may be others than the search's.
    if (rule == nullptr || rule->CyclesFor(size) > (1 + kMostLoss) * own)
      rules.push_back(std::make_shared<OwnPlan>(std::move(result->plan), size));
    if (rule != nullptr) rules.push_back(std::move(rule));
    return rules;
  }

  absl::StatusOr<Rules> FindOthers(size_t member) override {
    return Find(member, std::numeric_limits<double>::infinity());
  }

 private:
  const PlanMembers& members_;
};

}  // namespace

absl::StatusOr<std::optional<PlanFamily>> FindRowRegions(const PlanMembers& members) {
  RowFinder finder(members);
  return FindPlanRegions(members, "n_rows", finder);
}

}  // namespace kirsch
