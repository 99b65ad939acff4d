// SPDX-License-Identifier: Apache-2.0
#include "search/table/recall.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rewrites/spec/rewrite.h"
#include "search/solver/choice.h"
#include "search/solver/limits.h"
#include "spec/check.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The table has a decision that its spec can't have begun with.
absl::Status Impossible(const TableEntry& entry) {
  return absl::DataLossError(Cat("the table is damaged: no program for '", PrintSpec(entry.spec),
                                 "' begins with '", PrintDecision(entry.spec.op, entry.decision), "'"));
}

// Walks the memo's decisions from the root down, and makes an entry of each spec once.
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
  // The most lines for which the spec's entry can be made. The search solves a serial spec at its empty level
  // before it does with fewer lines. If that program fits, the entry is for the empty level: it then answers
  // all questions in its box.
  Lines Widest(const Spec& spec, Lines available) const {
    const Lines empty = EmptyLevel(spec, model_.target());
    if (spec.out().level == Level::kVrf) return empty;  // a microkernel fills nothing
    if (spec.threads > 1 || available >= empty) return available;
    return SolutionOf(spec, empty).peak <= available ? empty : available;
  }

  // A register tile's program fills nothing, so it is the same for any number of lines. Ask for 0, which
  // every box of it includes.
  Solution SolutionOf(const Spec& spec, Lines available) const {
    const Lines asked = spec.out().level == Level::kVrf ? 0 : available;
    const Known known = memo_.Find(spec, asked);
    KIRSCH_CHECK(known.solution.has_value());
    return *known.solution;
  }

  const CostModel& model_;
  const Memo& memo_;
  std::set<std::pair<Spec::Words, Lines>> seen_;
  std::vector<TableEntry> entries_;
};

}  // namespace

absl::StatusOr<std::optional<Solution>> Recaller::Find(const Spec& spec, Lines available) {
  KIRSCH_ASSIGN_OR_RETURN(std::optional<TableEntry> entry, table_.Find(spec, available));
  if (!entry) return std::nullopt;
  // Different questions may lead to the same entry, so nodes are kept by entry.
  const Key key{spec.words(), entry->available};
  auto node = nodes_.find(key);
  if (node == nodes_.end()) {
    KIRSCH_ASSIGN_OR_RETURN(std::optional<Node> built, Build(*entry));
    if (!built) return std::nullopt;
    node = nodes_.emplace(key, *built).first;
  }
  // The entry is for more lines. Its program is the optimum here only if it fits.
  if (node->second.solution.peak > available) return std::nullopt;
  return node->second.solution;
}

absl::StatusOr<std::optional<Recaller::Node>> Recaller::Build(const TableEntry& entry) {
  const Spec& spec = entry.spec;
  // Both checks guard against a damaged file: the decision must be legal, and its tile must fit.
  if (!IsLegal(spec, entry.decision, model_.target())) return Impossible(entry);
  Expansion expansion;
  Expand(spec, entry.decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, entry.available, model_.target());
  if (below < 0) return Impossible(entry);
  Node node;
  node.solution = {model_.Base(spec, entry.decision, expansion), 0, entry.available, entry.decision};
  Lines peak = 0;
  for (int i = 0; i < expansion.num_children; ++i) {
    const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
    KIRSCH_ASSIGN_OR_RETURN(std::optional<Solution> found, Find(child.spec, below));
    if (!found) return std::nullopt;
    node.solution.cost += child.weight * found->cost;
    node.children[static_cast<size_t>(i)] = found->available;
    peak = std::max(peak, found->peak);
  }
  node.solution.peak = PeakAbove(spec, expansion, peak);
  return node;
}

// Follows the nodes that Find has built. Each knows for how many lines its children's entries are.
Impl Recaller::Program(const Spec& spec, const Solution& solution) const {
  const auto node = nodes_.find({spec.words(), solution.available});
  KIRSCH_CHECK(node != nodes_.end());
  return BuildProgram(spec, solution.decision, solution.available, model_.target(),
                      [&](const Expansion& expansion, size_t i, Lines) {
                        const Spec& child = expansion.children[i].spec;
                        return Program(child, nodes_.at({child.words(), node->second.children[i]}).solution);
                      });
}

absl::StatusOr<std::optional<RecalledProgram>> Recall(const Spec& spec, Lines available,
                                                      const CostModel& model, Table& table) {
  Recaller recaller(model, table);
  KIRSCH_ASSIGN_OR_RETURN(std::optional<Solution> found, recaller.Find(spec, available));
  if (!found) return std::nullopt;
  return RecalledProgram{recaller.Program(spec, *found), found->cost, found->peak, found->available};
}

std::vector<TableEntry> ProgramEntries(const Spec& spec, Lines available, const CostModel& model,
                                       const Memo& memo) {
  Recorder recorder(model, memo);
  recorder.Record(spec, available);
  return std::move(recorder).entries();
}

}  // namespace kirsch
