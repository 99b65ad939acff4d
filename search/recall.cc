#include "search/recall.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rewrites/rewrite.h"
#include "search/limits.h"
#include "spec/cat.h"
#include "spec/check.h"
#include "spec/printer.h"
#include "spec/schedule.h"

namespace kirsch {
namespace {

using QuestionKey = std::pair<Spec::Words, Lines>;

absl::Status Impossible(const TableEntry& entry) {
  return absl::DataLossError(Cat("the table is damaged: no program for '", PrintSpec(entry.spec),
                                 "' begins with '", PrintDecision(entry.spec.op, entry.decision), "'"));
}

class Recorder {
 public:
  Recorder(const CostModel& model, const Memo& memo) : model_(model), memo_(memo) {}

  void Record(const Spec& spec, Lines available) {
    const Lines most = Widest(spec, available);
    if (!seen_.insert({spec.words(), most}).second) return;
    const Solution solution = SolutionOf(spec, most);
    entries_.push_back({spec, most, solution.decision});
    Expansion expansion;
    Expand(spec, solution.decision, model_.target(), &expansion);
    const Lines below = AvailableBelow(spec, expansion, most, model_.target());
    for (int i = 0; i < expansion.num_children; ++i)
      Record(expansion.children[static_cast<size_t>(i)].spec, below);
  }

  std::vector<TableEntry> entries() && { return std::move(entries_); }

 private:
  // The search solves a serial spec at its empty level before it does with fewer lines. Where that program
  // fits, the entry is for the empty level: one entry then answers all questions in its box.
  Lines Widest(const Spec& spec, Lines available) const {
    const Lines empty = EmptyLevel(spec, model_.target());
    if (spec.out().level == Level::kVrf) return empty;  // a microkernel fills nothing
    if (spec.threads > 1 || available >= empty) return available;
    return SolutionOf(spec, empty).peak <= available ? empty : available;
  }

  Solution SolutionOf(const Spec& spec, Lines available) const {
    const Lines asked = spec.out().level == Level::kVrf ? 0 : available;
    const Known known = memo_.Find(spec, asked);
    KIRSCH_CHECK(known.solution);
    return *known.solution;
  }

  const CostModel& model_;
  const Memo& memo_;
  std::set<QuestionKey> seen_;
  std::vector<TableEntry> entries_;
};

}  // namespace

absl::StatusOr<std::optional<RecalledEntry>> Recaller::Recall(const Spec& spec, Lines available) {
  absl::StatusOr<std::optional<TableEntry>> entry = table_.Find(spec, available);
  if (!entry.ok()) return entry.status();
  if (!*entry) return std::nullopt;
  const QuestionKey key{spec.words(), (*entry)->available};
  auto known = known_.find(key);
  if (known == known_.end()) {
    auto worked = Work(**entry);
    if (!worked.ok() || !*worked) return worked;
    known = known_.emplace(key, **worked).first;
  }
  if (known->second.peak > available) return std::nullopt;
  return known->second;
}

absl::StatusOr<std::optional<RecalledEntry>> Recaller::Work(const TableEntry& entry) {
  const Spec& spec = entry.spec;
  if (!IsLegal(spec, entry.decision, model_.target())) return Impossible(entry);
  Expansion expansion;
  Expand(spec, entry.decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, entry.available, model_.target());
  if (below < 0) return Impossible(entry);
  RecalledEntry worked{entry, model_.Base(spec, entry.decision, expansion), 0};
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    auto recalled = Recall(child.spec, below);
    if (!recalled.ok() || !*recalled) return recalled;
    worked.cost += child.weight * (*recalled)->cost;
    worked.peak = std::max(worked.peak, (*recalled)->peak);
  }
  worked.peak = PeakAbove(spec, expansion, worked.peak);
  return worked;
}

Impl Recaller::Program(const RecalledEntry& recalled) {
  const auto& [spec, available, decision] = recalled.entry;
  Impl impl{spec, decision, {}};
  Expansion expansion;
  Expand(spec, decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    const auto known = Recall(child.spec, below);
    KIRSCH_CHECK(known.ok() && *known);
    impl.children.push_back({child.trips, Program(**known)});
  }
  return impl;
}

std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo) {
  Recorder recorder(model, memo);
  recorder.Record(spec, available);
  return std::move(recorder).entries();
}

}  // namespace kirsch
