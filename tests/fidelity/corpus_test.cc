// SPDX-License-Identifier: Apache-2.0
#include "fidelity/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/workload/entries.h"
#include "bench/workload/suite.h"
#include "bench/workload/workload.h"
#include "fidelity/corpus_text.h"
#include "fidelity/fidelity.h"
#include "fidelity/random_problems.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

MeasuredSpec SpecWith(const std::string& operation, double chosen, double best) {
  MeasuredSpec spec;
  spec.operation = operation;
  spec.text = operation + " 8x8x8";
  spec.level = Level::kL1;
  spec.programs = {{"chosen\n", {{"FMA", 100}}, {{"trips", 7}}, 100, chosen, chosen * 1e-9, 0},
                   {"other\n", {{"FMA", 150}}, {}, 150, best, best * 1e-9, 0}};
  return spec;
}

Corpus SomeCorpus() {
  Corpus corpus;
  for (int i = 0; i < 5; ++i) corpus.specs.push_back(SpecWith("matmul f32", 110, 150 + i));
  corpus.specs.push_back(SpecWith("matmul bf16*bf16->f32", 200, 100));
  corpus.specs.push_back(SpecWith("softmax f32", 100, 120));
  return corpus;
}

TEST(Corpus, SplitsAreWhatTheySay) {
  const Corpus corpus = SomeCorpus();
  const Splits splits = SplitSpecs(corpus.specs, 1);
  EXPECT_EQ(splits.random.size(), 4u);  // the larger half of seven
  ASSERT_EQ(splits.dissimilar.size(), 2u);
  for (const MeasuredSpec& spec : splits.dissimilar) EXPECT_FALSE(spec.IsF32Matmul());
  std::set<std::string> drawn;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::string text;
    for (const MeasuredSpec& spec : SplitSpecs(corpus.specs, seed).random)
      text += spec.text + std::to_string(spec.programs[1].cycles) + "|";
    drawn.insert(text);
    EXPECT_EQ(SplitSpecs(corpus.specs, seed).random.size(), 4u);
  }
  EXPECT_GT(drawn.size(), 10u);
}

TEST(Corpus, SummariesAreMeansOverSpecs) {
  const Summary all = Summarise(SplitSpecs(SomeCorpus().specs, 1).dissimilar);
  EXPECT_EQ(all.specs, 2u);
  EXPECT_DOUBLE_EQ(*all.kendall_tau, 0);  // one -1, one 1
  EXPECT_NEAR(all.tile_ape, 100.0 / 200, 1e-12);
  EXPECT_DOUBLE_EQ(all.within_first_1, 0.5);
  EXPECT_DOUBLE_EQ(all.within_first_5, 1);
  EXPECT_DOUBLE_EQ(all.mape, 0.25);
  EXPECT_DOUBLE_EQ(all.mape_all, (0.5 + 0.5) / 4 + (0 + 0.25) / 4);
  EXPECT_FALSE(Summarise({}).kendall_tau.has_value());
}

TEST(Corpus, SharesAreOfTheBestByOperation) {
  Corpus corpus = SomeCorpus();
  corpus.specs.push_back(SpecWith("softmax f32", 125, 100));
  const std::vector<ChoiceShares> shares = SharesByOperation(corpus.specs);
  ASSERT_EQ(shares.size(), 4u);
  EXPECT_EQ(shares[0].operation, "matmul bf16*bf16->f32");
  EXPECT_DOUBLE_EQ(shares[0].mean, 0.5);
  EXPECT_EQ(shares[1].specs, 5u);
  EXPECT_DOUBLE_EQ(shares[1].worst, 1);  // chosen in 110 cycles, the other in more
  EXPECT_DOUBLE_EQ(shares[2].mean, (1 + 0.8) / 2);
  EXPECT_DOUBLE_EQ(shares[2].worst, 0.8);
  EXPECT_EQ(shares[3].operation, "all");
  EXPECT_EQ(shares[3].specs, 8u);
  EXPECT_DOUBLE_EQ(shares[3].mean, (5 + 0.5 + 1 + 0.8) / 8);
  EXPECT_EQ(shares[3].worst_spec, "matmul bf16*bf16->f32 8x8x8");
  EXPECT_TRUE(SharesByOperation({}).empty());
}

// Each can be read, and there is work of every size.
TEST(RandomProblems, AreProblemsOfAllKinds) {
  const std::vector<std::string> problems = DrawProblems(400, 3);
  EXPECT_EQ(problems, DrawProblems(400, 3));
  EXPECT_NE(problems, DrawProblems(400, 4));
  std::set<std::string> operations;
  std::set<int> magnitudes;
  for (const std::string& text : problems) {
    const absl::StatusOr<std::vector<BenchEntry>> entries = ReadEntries(text, "spec");
    ASSERT_TRUE(entries.ok()) << text << ": " << entries.status();
    operations.insert(OperationOf(text));
    const absl::StatusOr<Workload> workload = MakeWorkload(entries->front().kernel(), 1);
    ASSERT_TRUE(workload.ok()) << text << ": " << workload.status();
    EXPECT_LE(workload->operations, 0x1p31) << text;
    magnitudes.insert(static_cast<int>(std::log10(workload->operations)));
  }
  EXPECT_GE(operations.size(), 10u);
  EXPECT_GE(magnitudes.size(), 7u);
}

TEST(Corpus, JsonHasWhatScriptsRead) {
  const nlohmann::ordered_json json = ToJson(SomeCorpus(), 1);
  ASSERT_EQ(json.size(), 5u);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["cold"], false);
  for (const char* split : {"random", "dissimilar"})
    for (const char* key :
         {"kendall_tau", "tile_ape", "within_first_1", "within_first_5", "within_first_10", "mape"})
      EXPECT_TRUE(json["splits"][split].contains(key)) << split << " " << key;
  ASSERT_EQ(json["specs"].size(), 7u);
  const nlohmann::ordered_json& program = json["specs"][5]["programs"][0];
  EXPECT_EQ(program["schedule"], "chosen\n");
  EXPECT_EQ(program["predicted_cycles"], 100);
  EXPECT_EQ(program["cycles"], 200);
  EXPECT_EQ(program["terms"]["FMA"], 100);
  EXPECT_EQ(program["facts"]["trips"], 7);
  size_t drawn = 0;
  for (const nlohmann::ordered_json& spec : json["specs"]) {
    const std::vector<std::string> tested = spec["tested"];
    drawn += static_cast<size_t>(std::count(tested.begin(), tested.end(), "random"));
    EXPECT_EQ(std::count(tested.begin(), tested.end(), "dissimilar"), spec["operation"] != "matmul f32");
  }
  EXPECT_EQ(drawn, 4u);
}

TEST(Corpus, SplitsWithoutSpecsSayNothing) {
  Corpus corpus;
  corpus.specs = {SpecWith("matmul f32", 110, 150)};
  const auto json = ToJson(corpus, 1);
  for (const auto& [key, value] : json["splits"]["dissimilar"].items()) EXPECT_TRUE(value.is_null()) << key;
}

TEST(Corpus, IsPrintedAndDrawn) {
  Corpus corpus = SomeCorpus();
  corpus.left_out = {{"matmul f32 1x1x1", "no reason"}};
  const std::string table = FormatTable(corpus, 1), svg = ScatterSvg(corpus);
  EXPECT_NE(table.find("matmul bf16*bf16->f32 8x8x8: the choice loses 100.0%"), std::string::npos) << table;
  EXPECT_NE(table.find("left out: matmul f32 1x1x1: no reason"), std::string::npos);
  size_t dots = 0;
  for (size_t at = svg.find("<title>matmul"); at != svg.npos; at = svg.find("<title>matmul", at + 1)) ++dots;
  EXPECT_EQ(dots, 12u);
  EXPECT_EQ(svg.find("nan"), svg.npos);
}

TEST(Corpus, TheUsualSuiteHasAllKindsInAllLevels) {
  const auto suite = ParseSuite(UsualSuite(), "suite");
  ASSERT_TRUE(suite.ok()) << suite.status();
  const auto entries = MakeEntries(*suite, "suite");
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_GE(entries->size(), 30u);
}

// What is measured, not how fast it is.
TEST(Corpus, ProgramsAreMeasuredBesideTheirPredictions) {
  const auto host = FindTarget("host", "");
  if (!host.ok()) GTEST_SKIP() << host.status();
  const CostModel model(host->target);
  std::vector<BenchEntry> entries = *ReadEntries("matmul f32 8x16x24", "spec");
  entries.push_back(ReadEntries("softmax f32 4x64", "spec")->front());
  FidelityOptions options;
  options.draw.programs = 5;
  options.rounds = 2;
  options.min_seconds = 1e-5;
  const auto corpus = MeasureCorpus(entries, model, options);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  EXPECT_TRUE(corpus->wrong.empty());
  ASSERT_EQ(corpus->specs.size(), 2u);
  EXPECT_EQ(corpus->specs[0].operation, "matmul f32");
  EXPECT_EQ(corpus->specs[1].operation, "softmax f32");
  for (const MeasuredSpec& spec : corpus->specs) {
    EXPECT_EQ(spec.programs.size(), 5u);
    EXPECT_EQ(Chosen(spec.predictions()), 0u);
    for (const MeasuredProgram& program : spec.programs) {
      EXPECT_GT(program.cycles, 0);
      double terms = 0;
      for (const auto& [name, cycles] : program.terms) terms += cycles;
      EXPECT_NEAR(terms, program.predicted, 1e-3 * program.predicted) << program.schedule;
    }
  }
}

TEST(Corpus, StopsWithWhatThereIs) {
  const auto host = FindTarget("host", "");
  if (!host.ok()) GTEST_SKIP() << host.status();
  const CostModel model(host->target);
  const std::vector<BenchEntry> entries(2, ReadEntries("matmul f32 8x8x8", "spec")->front());
  FidelityOptions options;
  options.draw.programs = 2;
  options.stop = [] { return true; };
  const auto corpus = MeasureCorpus(entries, model, options);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  EXPECT_TRUE(corpus->specs.empty());
}

}  // namespace
}  // namespace kirsch
