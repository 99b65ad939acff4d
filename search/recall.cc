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

class Recaller {
 public:
  Recaller(const CostModel& model, Table& table) : model_(model), table_(table) {}

  absl::StatusOr<std::optional<RecalledProgram>> Recall(const Spec& spec, Lines available) {
    absl::StatusOr<std::optional<TableEntry>> entry = table_.Find(spec, available);
    if (!entry.ok()) return entry.status();
    if (!*entry) return std::nullopt;
    const QuestionKey key{spec.words(), (*entry)->available};
    auto program = programs_.find(key);
    if (program == programs_.end()) {
      auto built = Build(**entry);
      if (!built.ok() || !*built) return built;
      program = programs_.emplace(key, **std::move(built)).first;
    }
    if (program->second.peak > available) return std::nullopt;
    return program->second;
  }

 private:
  absl::StatusOr<std::optional<RecalledProgram>> Build(const TableEntry& entry) {
    const Spec& spec = entry.spec;
    if (!IsLegal(spec, entry.decision, model_.target())) return Impossible(entry);
    Expansion expansion;
    Expand(spec, entry.decision, model_.target(), &expansion);
    const Lines below = AvailableBelow(spec, expansion, entry.available, model_.target());
    if (below < 0) return Impossible(entry);
    RecalledProgram program{
        {spec, entry.decision, {}}, model_.Base(spec, entry.decision, expansion), 0, entry.available};
    Lines peak = 0;
    for (int i = 0; i < expansion.num_children; ++i) {
      const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
      auto recalled = Recall(child.spec, below);
      if (!recalled.ok() || !*recalled) return recalled;
      program.cost += child.weight * (*recalled)->cost;
      peak = std::max(peak, (*recalled)->peak);
      program.impl.children.push_back({child.trips, std::move((*recalled)->impl)});
    }
    program.peak = PeakAbove(spec, expansion, peak);
    return program;
  }

  static absl::Status Impossible(const TableEntry& entry) {
    return absl::DataLossError(Cat("the table is damaged: no program for '", PrintSpec(entry.spec),
                                   "' begins with '", PrintDecision(entry.spec.op, entry.decision), "'"));
  }

  const CostModel& model_;
  Table& table_;
  std::map<QuestionKey, RecalledProgram> programs_;
};

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
    KIRSCH_CHECK(known.solution != nullptr);
    return *known.solution;
  }

  const CostModel& model_;
  const Memo& memo_;
  std::set<QuestionKey> seen_;
  std::vector<TableEntry> entries_;
};

}  // namespace

absl::StatusOr<std::optional<RecalledProgram>> Recall(const Spec& spec, Lines available,
                                                      const CostModel& model, Table& table) {
  return Recaller(model, table).Recall(spec, available);
}

std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo) {
  Recorder recorder(model, memo);
  recorder.Record(spec, available);
  return std::move(recorder).entries();
}

}  // namespace kirsch
