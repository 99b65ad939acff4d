#include "search/row_regions.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "rewrites/canonical_graph.h"
#include "search/row_template.h"
#include "search/size_regions.h"

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
  RowFinder(absl::Span<const Graph> members, uint32_t least, std::string_view source, const CostModel& model,
            const PlanOptions& options)
      : members_(members), least_(least), source_(source), model_(model), options_(options) {}

  absl::StatusOr<Rules> Find(size_t member, double cutoff) override {
    PlanOptions options = options_;
    options.cutoff = cutoff;
    options.any_rows = true;
    absl::StatusOr<PlanResult> result = SearchPlan(members_[member], source_, model_, options);
    if (!result.ok()) return result.status();
    if (result->plan.groups.empty()) return Rules();
    const size_t other = member == 0 ? 1 : member - 1;
    Rules rules;
    const double own = result->plan.cycles;
    std::shared_ptr<PlanRule> rule = RowTemplate::Create(
        result->plan, SizeOf(member), CanonicalGraph(members_[other]), SizeOf(other), model_);
    // Rules choose register tiles themselves, which may be others than the search's.
    if (rule == nullptr || rule->CyclesFor(SizeOf(member)) > (1 + kMostLoss) * own)
      rules.push_back(std::make_shared<OwnPlan>(std::move(result->plan), SizeOf(member)));
    if (rule != nullptr) rules.push_back(std::move(rule));
    return rules;
  }

  absl::StatusOr<Rules> FindOthers(size_t member) override {
    return Find(member, std::numeric_limits<double>::infinity());
  }

 private:
  int64_t SizeOf(size_t member) const { return least_ + static_cast<int64_t>(member); }

  const absl::Span<const Graph> members_;
  const uint32_t least_;
  const std::string_view source_;
  const CostModel& model_;
  const PlanOptions& options_;
};

}  // namespace

absl::StatusOr<PlanFamily> FindRowRegions(absl::Span<const Graph> members, uint32_t least,
                                          std::string_view source, const CostModel& model,
                                          const PlanOptions& options) {
  RowFinder finder(members, least, source, model, options);
  return FindPlanRegions(members, least, "n_rows", model.target(), options.residency, finder);
}

}  // namespace kirsch
