// SPDX-License-Identifier: Apache-2.0
#include "fidelity/facts.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "search/explain/explain.h"
#include "search/explain/explain_plan.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Adds up the facts of one program or plan.
class FactsCounter {
 public:
  explicit FactsCounter(const Target& target) : target_(target) {}

  // Adds the nodes of a program tree that runs `runs` times.
  void AddNodes(const std::vector<ExplainedNode>& nodes, double runs) {
    for (const ExplainedNode& node : nodes) {
      if (node.tile) AddTile(*node.tile, runs * node.runs);
      for (const Level level : {Level::kL1, Level::kL2, Level::kL3}) AddHeld(node, level);
    }
  }

  void AddTraffic(const Traffic& traffic) {
    for (const Level level : {Level::kL2, Level::kL3, Level::kRam}) {
      Add("read ", level, traffic.read[static_cast<size_t>(level)]);
      Add("written ", level, traffic.written[static_cast<size_t>(level)]);
    }
  }

  const Facts& facts() const { return facts_; }

 private:
  void Add(std::string_view fact, double count) {
    if (count != 0) facts_[std::string(fact)] += count;
  }
  void Add(std::string_view fact, Level level, double count) { Add(Cat(fact, Name(level)), count); }

  // Counts of a trip, times the trips of a run, times the runs.
  void AddTile(const TileFacts& tile, double runs) {
    Add("microkernels", runs);
    Add("trips", runs * tile.trips);
    Add("instructions", runs * tile.trips * tile.instructions);
    Add("multiply-adds", runs * tile.trips * tile.multiply_adds);
    Add("spills", runs * tile.trips * tile.spills);
  }

  // The most that any node holds, not a sum: nodes come one after the other.
  void AddHeld(const ExplainedNode& node, Level level) {
    const auto bytes = static_cast<double>(node.bytes_held[static_cast<size_t>(level)]);
    if (bytes == 0) return;
    double& most = facts_[Cat("held ", Name(level))];
    most = std::max(most, bytes / static_cast<double>(target_.at(level).bytes));
  }

  const Target& target_;
  Facts facts_;
};

}  // namespace

Facts GatherFacts(const Impl& impl, const CostModel& model) {
  const std::vector<ExplainedNode> nodes = ExplainNodes(impl, model);
  FactsCounter counter(model.target());
  counter.AddNodes(nodes, 1);
  counter.AddTraffic(TrafficOf(nodes));
  return counter.facts();
}

Facts GatherFacts(const Plan& plan, const CostModel& model) {
  const ExplainedPlan explained = ExplainPlan(plan, model);
  FactsCounter counter(model.target());
  for (const ExplainedStage& stage : explained.stages)
    counter.AddNodes(stage.nodes, stage.runs * static_cast<double>(stage.stage->repeats));
  counter.AddTraffic(explained.traffic);
  return counter.facts();
}

}  // namespace kirsch
