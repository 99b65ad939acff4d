// SPDX-License-Identifier: Apache-2.0
#include "fidelity/price.h"

#include <set>
#include <string>
#include <utility>

#include "bench/workload/entries.h"
#include "fidelity/candidates.h"
#include "memo/hash_memo.h"
#include "search/graph/follow_plan.h"
#include "search/graph/group_levels.h"
#include "search/solver/replay.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr char kFile[] = "schedule";  // as errors call it

// One run of PriceCorpus. It follows each schedule, and never searches.
class Pricing {
 public:
  Pricing(const Corpus& measured, const CostModel& model, const PriceOptions& options)
      : measured_(measured), model_(model), options_(options) {
    priced_.threads = measured.threads;
    priced_.residency = measured.residency;
  }

  absl::StatusOr<Corpus> Run() {
    absl::Status first;
    for (size_t i = 0; i < measured_.specs.size() && !stopped(); ++i) {
      const MeasuredSpec& spec = measured_.specs[i];
      if (options_.progress)
        options_.progress(Cat("pricing ", i + 1, " of ", measured_.specs.size(), ", ", spec.text));
      const absl::Status status = Price(spec);
      first.Update(status);
      if (!status.ok()) priced_.left_out.push_back({spec.text, std::string(status.message())});
    }
    // A corpus without any spec has no figures.
    if (priced_.specs.empty() && !first.ok()) return first;
    return std::move(priced_);
  }

 private:
  // Returns what the model says of a schedule; an error if its target has no such program.
  using Predict = std::function<absl::StatusOr<MeasuredProgram>(const std::string& schedule)>;

  bool stopped() const { return options_.stop && options_.stop(); }

  absl::Status Price(const MeasuredSpec& spec) {
    KIRSCH_ASSIGN_OR_RETURN(const std::vector<BenchEntry> entries, ReadEntries(spec.text, "spec"));
    return std::visit([&](const auto& kernel) { return Price(spec, kernel); }, entries.front().kernel());
  }

  // A contraction: the schedule is replayed from its placed root.
  absl::Status Price(const MeasuredSpec& spec, const ParsedSpec& parsed) {
    KIRSCH_ASSIGN_OR_RETURN(const Spec root,
                            PlacedRoot(parsed, model_, measured_.threads, measured_.residency));
    HashMemo memo;
    return Add(spec, root.out().level, [&](const std::string& text) -> absl::StatusOr<MeasuredProgram> {
      KIRSCH_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(text, kFile, root.op));
      KIRSCH_ASSIGN_OR_RETURN(const SearchResult result, Replay(root, schedule, kFile, model_, memo, {}));
      return PredictedProgram(result.impl, result.cost, model_);
    });
  }

  // A graph: its plan follows the schedule.
  absl::Status Price(const MeasuredSpec& spec, const Graph& graph) {
    PlanOptions options;
    options.threads = measured_.threads;
    options.residency = measured_.residency;
    HashMemo memo;
    PlanFollower follower(graph, "spec", model_, memo, options);
    const Level home = PlacementOf(graph, measured_.residency, model_.target());
    return Add(spec, home, [&](const std::string& text) -> absl::StatusOr<MeasuredProgram> {
      KIRSCH_ASSIGN_OR_RETURN(const Plan plan, follower.With(text, kFile));
      return PredictedProgram(plan, model_);
    });
  }

  // Adds the spec with the new predictions and the old measurements. Levels are those of the new target,
  // whose caches may be larger or smaller.
  absl::Status Add(const MeasuredSpec& measured, Level home, const Predict& predict) {
    MeasuredSpec spec = measured;
    spec.level = home;
    spec.operation = OperationOf(spec.text);
    spec.programs.clear();
    std::set<std::string> known;  // schedules; their comments may have changed with the model
    for (const MeasuredProgram& program : measured.programs) {
      if (stopped()) break;
      absl::StatusOr<MeasuredProgram> priced = predict(program.schedule);
      if (!priced.ok()) {
        priced_.left_out.push_back({spec.text, std::string(priced.status().message())});
        continue;
      }
      // Two corpora that were read as one may both have this program.
      if (!known.insert(priced->schedule).second) continue;
      // Predictions are new, measurements stay.
      priced->cycles = program.cycles;
      priced->seconds = program.seconds;
      priced->spread = program.spread;
      spec.programs.push_back(*std::move(priced));
    }
    if (!spec.programs.empty()) priced_.specs.push_back(std::move(spec));
    return absl::OkStatus();
  }

  const Corpus& measured_;
  const CostModel& model_;
  const PriceOptions& options_;
  Corpus priced_;
};

}  // namespace

absl::StatusOr<Corpus> PriceCorpus(const Corpus& measured, const CostModel& model,
                                   const PriceOptions& options) {
  return Pricing(measured, model, options).Run();
}

}  // namespace kirsch
