// SPDX-License-Identifier: Apache-2.0
// Shortest paths that are looked for again, as lengths grow, are those that a search from the start finds.
#include "search/graph/plan_paths.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/canonical_graph.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "tests/testing/grammar_graph.h"

namespace kirsch {
namespace {

// Lengths that are drawn when they are first asked for. Some groups can't be computed.
class DrawnLengths {
 public:
  explicit DrawnLengths(uint32_t seed) : random_(seed) {}

  double Of(const GroupQuestion& group) {
    const auto [known, is_new] = lengths_.try_emplace(group);
    if (is_new) {
      const auto operations = static_cast<double>(group.first.size());
      known->second = operations > 1 && random_() % 4 == 0
                          ? kInfiniteCycles
                          : operations * (20.0 + static_cast<double>(random_() % 30));
    }
    return known->second;
  }
  void Grow(const GroupQuestion& group) { lengths_.at(group) *= 1 + static_cast<double>(random_() % 4) / 8; }

 private:
  std::mt19937 random_;
  std::map<GroupQuestion, double> lengths_;
};

std::string TextOf(const PlanPath& path) {
  std::string text = Cat(path.cycles, ":");
  for (const PlanStep& step : path.steps) {
    Append(&text, step.waits ? " | " : " ", step.from, "-", step.end);
    for (const GroupQuestion& group : step.groups) {
      group.first.ForEach([&](size_t place) { Append(&text, ",", place); });
      Append(&text, "/", static_cast<int>(group.second));
    }
  }
  return text;
}

TEST(PlanPathsTest, LookingAgainFindsWhatASearchFromTheStartFinds) {
  int compared = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    std::mt19937 random(round);
    const testing::GrammarGraph drawn = testing::RandomGrammarGraph(3 + static_cast<int>(round) % 6, random);
    const auto requests = ParseKernelFile(testing::GrammarText(drawn, random), "test");
    ASSERT_TRUE(requests.ok()) << requests.status();
    if (requests->front().family.graphs() == nullptr) continue;
    const Graph graph = CanonicalGraph(requests->front().family.graphs()->member(0));
    const GraphUses uses(graph);
    if (uses.operations().empty()) continue;
    const FusionGraph fusion(uses, 1024);
    const PathOptions options{1 + static_cast<int>(round) % 3, 15};
    DrawnLengths lengths(round);
    const PlanPaths::Length length = [&](const GroupQuestion& group) { return lengths.Of(group); };
    PlanPaths kept(fusion, options, length);
    auto paths = kept.Shortest({});
    for (int again = 0; again < 20; ++again) {
      const auto fresh = PlanPaths(fusion, options, length).Shortest({});
      ASSERT_TRUE(paths.ok() && fresh.ok());
      ASSERT_EQ(paths->size(), fresh->size());
      if (paths->empty()) break;
      ASSERT_EQ(TextOf(paths->front()), TextOf(fresh->front())) << "round " << round << ", again " << again;
      ++compared;
      // As a search does: some of the groups on the path turn out to be longer.
      std::vector<GroupQuestion> longer;
      for (const PlanStep& step : paths->front().steps)
        for (const GroupQuestion& group : step.groups)
          if (random() % 2 == 0) longer.push_back(group);
      for (const GroupQuestion& group : longer) lengths.Grow(group);
      paths = kept.ShortestAgain(longer);
    }
  }
  EXPECT_GT(compared, 600);
}

}  // namespace
}  // namespace kirsch
