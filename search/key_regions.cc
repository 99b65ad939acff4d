#include "search/key_regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rewrites/canonical_graph.h"
#include "rewrites/online_attention.h"
#include "search/key_template.h"
#include "search/size_regions.h"
#include "search/slice_levels.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Compares the canonical graphs of two members.
class KeysOfGraphs {
 public:
  KeysOfGraphs(const Graph& less, const Graph& more) : less_(less), more_(more) {}

  bool DifferOnlyInKeys() const {
    const size_t count = less_.nodes.size();
    if (count != more_.nodes.size() || less_.result != more_.result || Varies(less_.result)) return false;
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      const int node = static_cast<int>(i);
      if (less_.nodes[i].op != more_.nodes[i].op || less_.nodes[i].inputs != more_.nodes[i].inputs)
        return false;
      if (!(less_.at(node).op == Operation::kInput ? IsParameterOfKeys(node) : GoesByKeys(node)))
        return false;
      any |= Varies(node);
    }
    return any;
  }

 private:
  bool Varies(int node) const { return less_.at(node).type.dims != more_.at(node).type.dims; }
  size_t Rank(int node) const { return less_.at(node).type.dims.size(); }

  // Only in the axis that is so many before the last one?
  bool VariesOnlyAt(int node, size_t before_last) const {
    std::vector<uint32_t> dims = less_.at(node).type.dims;
    const std::vector<uint32_t>& others = more_.at(node).type.dims;
    if (dims.size() != others.size() || dims.size() <= before_last) return false;
    const size_t axis = dims.size() - 1 - before_last;
    if (dims[axis] == others[axis]) return false;
    dims[axis] = others[axis];
    return dims == others;
  }

  // Is a key's element in the same place, however many keys there are?
  bool IsParameterOfKeys(int node) const {
    const TensorType &less = less_.at(node).type, &more = more_.at(node).type;
    if (!Varies(node)) return less == more;
    if (!VariesOnlyAt(node, 0) && !VariesOnlyAt(node, 1)) return false;
    const std::vector<int64_t> a = less.Strides(), b = more.Strides();
    for (size_t axis = 0; axis < a.size(); ++axis)
      if (less.dims[axis] > 1 && more.dims[axis] > 1 && a[axis] != b[axis]) return false;
    return !less_.IsConstant(node);
  }

  bool GoesByKeys(int node) const {
    const GraphNode& at = less_.at(node);
    const bool any =
        std::any_of(at.inputs.begin(), at.inputs.end(), [&](int input) { return Varies(input); });
    if (at.op != Operation::kMatmul) return any == Varies(node) && (!any || VariesOnlyAt(node, 0));
    if (!any) return true;
    const int lhs = at.inputs[0], rhs = at.inputs[1];
    if (!Varies(lhs)) return VariesOnlyAt(rhs, 0);
    return Info(less_.at(lhs).op).kind != OperationKind::kLeaf && VariesOnlyAt(lhs, 0) &&
           VariesOnlyAt(rhs, 1);
  }

  const Graph &less_, &more_;
};

class KeySolver {
 public:
  KeySolver(absl::Span<const Graph> members, uint32_t least, std::string_view source, const CostModel& model,
            const PlanOptions& options)
      : members_(members), least_(least), source_(source), model_(model), options_(options) {}

  absl::StatusOr<KeyFamily> Find() && {
    family_.cycles.resize(members_.size());
    for (size_t first = 0, end = 0; first < members_.size(); first = end) {
      while (end < members_.size() && HomeAt(end) == HomeAt(first)) ++end;
      if (absl::Status status = FindPart(first, end - 1); !status.ok()) return status;
    }
    return std::move(family_);
  }

 private:
  struct Candidate {
    std::shared_ptr<KeyTemplate> rule;
    std::vector<double> cycles;  // of the part's members
  };

  Level HomeAt(size_t member) const { return HomeOf(members_[member], options_.residency, model_.target()); }
  int64_t KeysOf(size_t member) const { return least_ + static_cast<int64_t>(member); }

  // Members whose operands wait in the same place.
  absl::Status FindPart(size_t first, size_t last) {
    first_ = first;
    last_ = last;
    candidates_.clear();
    improved_.clear();
    const std::vector<size_t> ladder = Ladder();
    for (size_t member : ladder)
      if (absl::Status status = Solve(member); !status.ok()) return status;
    for (size_t member = first; member <= last; ++member)
      if (Least(member) == kNever)
        if (absl::Status status = Search(member, KeyUse::kBlocks, kNever); !status.ok()) return status;
    for (size_t i = 1; i < ladder.size(); ++i)
      if (absl::Status status = Refine(ladder[i], ladder[i - 1]); !status.ok()) return status;
    return AddRegions();
  }

  // Where the first, a middle or the last member of a region has a better plan than any that is known,
  // regions are found anew, a few times.
  absl::Status AddRegions() {
    constexpr int kMostTimes = 3;
    const size_t before = family_.regions.size();
    size_t known = 0;
    for (int time = 0; time <= kMostTimes && known < candidates_.size(); ++time) {
      known = candidates_.size();
      family_.regions.erase(family_.regions.begin() + static_cast<std::ptrdiff_t>(before),
                            family_.regions.end());
      for (size_t next = first_; next <= last_; next = family_.regions.back().last + 1) AddRegion(next);
      for (size_t i = before; i < family_.regions.size() && time < kMostTimes; ++i) {
        const auto [first, last] = std::pair(family_.regions[i].first, family_.regions[i].last);
        for (size_t member : {first, Between(first, last), last})
          if (absl::Status status = Improve(member); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // About as many times more than `low` as `high` has more than it.
  size_t Between(size_t low, size_t high) const {
    const double keys = std::sqrt(static_cast<double>(KeysOf(low)) * static_cast<double>(KeysOf(high)));
    return std::clamp(static_cast<size_t>(static_cast<int64_t>(keys) - least_), low, high);
  }

  // Searches for a plan for the member's keys that is more than kLossNotSearched better than those known.
  absl::Status Improve(size_t member) {
    if (!improved_.insert(member).second) return absl::OkStatus();
    const absl::Status status = Search(member, KeyUse::kAtOnce, Least(member) / (1 + kLossNotSearched));
    return absl::IsInvalidArgument(status) ? absl::OkStatus() : status;
  }

  // The last of the part, and members with so many keys that all blocks leave nearly a block, each with about
  // a fourth of those before it.
  std::vector<size_t> Ladder() const {
    std::vector<size_t> members = {last_};
    const int64_t block = LargestKeyBlock(model_.target());
    for (int64_t keys = KeysOf(last_); members.back() > first_; keys /= 4) {
      if (keys >= block) keys = (keys + 1) / block * block - 1;
      const auto member = static_cast<size_t>(std::max<int64_t>(keys - least_, static_cast<int64_t>(first_)));
      if (member < members.back()) members.push_back(member);
    }
    return members;
  }

  // By blocks of keys only where no program for any number of them serves.
  absl::Status Solve(size_t member) {
    const size_t before = candidates_.size();
    const absl::Status status = Search(member, KeyUse::kAtOnce, kNever);
    if (!status.ok() && !absl::IsInvalidArgument(status)) return status;
    return candidates_.size() > before ? absl::OkStatus() : Search(member, KeyUse::kBlocks, kNever);
  }

  // A matrix of one key does not show how keys lie.
  absl::Status Search(size_t member, KeyUse keys, double cutoff) {
    if (KeysOf(member) == 1) ++member;
    PlanOptions options = options_;
    options.other_keys = &members_[member == 0 ? 1 : 0];
    options.keys = keys;
    options.cutoff = cutoff;
    absl::StatusOr<PlanResult> result = SearchPlan(members_[member], source_, model_, options);
    if (!result.ok()) return result.status();
    family_.stats += result->stats;
    if (result->plan.groups.empty()) return absl::OkStatus();
    auto rule = std::make_shared<KeyTemplate>(result->plan, model_);
    AddCandidate(rule);
    if (rule->LeavesColumns())
      AddCandidate(
          std::make_shared<KeyTemplate>(std::move(result->plan), model_, TemplateChoice{.own_rest = true}));
    return absl::OkStatus();
  }

  void AddCandidate(std::shared_ptr<KeyTemplate> rule) {
    if (!rule->ApplyToRange(KeysOf(first_), std::min(KeysOf(last_), rule->most()))) return;
    Candidate candidate{std::move(rule), {}};
    for (size_t i = first_; i <= last_; ++i) candidate.cycles.push_back(candidate.rule->CyclesFor(KeysOf(i)));
    candidates_.push_back(std::move(candidate));
  }

  // Of the best plan that is known.
  double Least(size_t member) const {
    double least = kNever;
    for (const Candidate& candidate : candidates_) least = std::min(least, candidate.cycles[member - first_]);
    return least;
  }

  // Searches for more between two that were searched, as long as something there takes more than the line
  // between these two.
  absl::Status Refine(size_t low, size_t high) {
    if (high - low < 2) return absl::OkStatus();
    const double from = Least(low), to = Least(high), rise = (to - from) / static_cast<double>(high - low);
    bool served = true;
    for (size_t i = low + 1; i < high && served; ++i)
      served = Least(i) <= (1 + kMostLoss) * (from + rise * static_cast<double>(i - low));
    if (served) return absl::OkStatus();
    const size_t middle = std::clamp(Between(low, high), low + 1, high - 1);
    if (absl::Status status = Improve(middle); !status.ok()) return status;
    if (absl::Status refined = Refine(low, middle); !refined.ok()) return refined;
    return Refine(middle, high);
  }

  // From `next` on: the plan that reaches furthest.
  void AddRegion(size_t next) {
    const auto cycles = [&](const Candidate& candidate, size_t i) { return candidate.cycles[i - first_]; };
    const Candidate* chosen = nullptr;
    size_t chosen_end = next;
    for (const Candidate& candidate : candidates_) {
      size_t end = next;
      while (end <= last_ && cycles(candidate, end) <= (1 + kMostLoss) * Least(end)) ++end;
      if (end <= chosen_end) continue;
      chosen = &candidate;
      chosen_end = end;
    }
    KIRSCH_CHECK(chosen != nullptr);
    const size_t last = chosen_end - 1;
    KeyRegion region{next, last, *chosen->rule->ApplyToRange(KeysOf(next), KeysOf(last))};
    region.plan.graph = CanonicalGraph(members_[last]);
    region.plan.keys = KeyRange{NameOfKeys(), KeysOf(next), KeysOf(last)};
    for (size_t i = next; i <= last; ++i) family_.cycles[i] = cycles(*chosen, i);
    region.plan.cycles = family_.cycles[last];
    family_.regions.push_back(std::move(region));
  }

  // That no parameter has.
  std::string NameOfKeys() const {
    std::string name = "n_keys";
    const auto taken = [&](const GraphNode& node) {
      return node.op == Operation::kInput && node.text == name;
    };
    while (std::any_of(members_[0].nodes.begin(), members_[0].nodes.end(), taken)) name += "_";
    return name;
  }

  const absl::Span<const Graph> members_;
  const uint32_t least_;
  const std::string_view source_;
  const CostModel& model_;
  const PlanOptions& options_;
  KeyFamily family_;
  // Of the part whose regions are being found.
  size_t first_ = 0, last_ = 0;
  std::vector<Candidate> candidates_;
  std::set<size_t> improved_;  // members that Improve was asked about
};

}  // namespace

bool DifferInKeys(absl::Span<const Graph> members) {
  if (members.size() < 3) return false;  // one key says nothing of how keys lie
  return KeysOfGraphs(CanonicalGraph(members[1]), CanonicalGraph(members.back())).DifferOnlyInKeys();
}

absl::StatusOr<KeyFamily> FindKeyRegions(absl::Span<const Graph> members, uint32_t least,
                                         std::string_view source, const CostModel& model,
                                         const PlanOptions& options) {
  return KeySolver(members, least, source, model, options).Find();
}

}  // namespace kirsch
