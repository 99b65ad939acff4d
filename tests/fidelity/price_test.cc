// SPDX-License-Identifier: Apache-2.0
#include "fidelity/price.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload/entries.h"
#include "fidelity/candidates.h"
#include "fidelity/read_corpus.h"
#include "memo/hash_memo.h"
#include "search/sampling/draw_plans.h"
#include "search/sampling/draw_programs.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The model refers to its target.
struct NamedModel {
  explicit NamedModel(const char* name) : target(FindTarget(name, "")->target), model(target) {}

  const Target target;
  const CostModel model;
};

constexpr char kMatmul[] = "matmul f32 24x40x32", kSoftmax[] = "softmax f32 8x200";

// Drawn, and as if measured.
Corpus DrawnCorpus(const CostModel& model) {
  constexpr int kPrograms = 6;
  Corpus corpus;
  HashMemo memo;
  MeasuredSpec matmul, softmax;
  matmul.text = kMatmul;
  const BenchEntry entry = ReadEntries(kMatmul, "spec")->front();
  const Spec root = *PlacedRoot(*entry.matmul, model, 1, Residency::kWarm);
  for (const DrawnProgram& program : DrawPrograms(root, model, memo, kPrograms, 1))
    matmul.programs.push_back(PredictedProgram(program.impl, program.cost, model));
  softmax.text = kSoftmax;
  const Graph graph = *ReadEntries(kSoftmax, "spec")->front().graph;
  const auto plans = DrawPlans(graph, "spec", model, memo, {}, kPrograms, 1);
  for (const Plan& plan : *plans) softmax.programs.push_back(PredictedProgram(plan, model));
  for (MeasuredSpec* spec : {&matmul, &softmax}) {
    spec->ghz = 3;
    spec->operation = OperationOf(spec->text);
    double cycles = 1000;
    for (MeasuredProgram& program : spec->programs) {
      program.cycles = cycles += 7;
      program.seconds = cycles / 3e9;
      program.spread = 0.02;
    }
    corpus.specs.push_back(*spec);
  }
  return corpus;
}

std::string TextOf(const Corpus& corpus) { return ToJson(corpus, 1).dump(1); }

TEST(Price, ByTheSameModelIsAsItWas) {
  const NamedModel haswell("haswell");
  const CostModel& model = haswell.model;
  const Corpus drawn = DrawnCorpus(model);
  const auto read = ParseCorpus(TextOf(drawn), "corpus");
  ASSERT_TRUE(read.ok()) << read.status();
  for (const MeasuredSpec& spec : read->specs)
    for (const MeasuredProgram& program : spec.programs) EXPECT_EQ(program.predicted, 0);
  const auto priced = PriceCorpus(*read, model, {});
  ASSERT_TRUE(priced.ok()) << priced.status();
  EXPECT_TRUE(priced->left_out.empty());
  ASSERT_EQ(priced->specs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(priced->specs[i].programs.size(), drawn.specs[i].programs.size());
    for (size_t k = 0; k < drawn.specs[i].programs.size(); ++k) {
      const MeasuredProgram &was = drawn.specs[i].programs[k], &is = priced->specs[i].programs[k];
      EXPECT_EQ(is.schedule, was.schedule);
      EXPECT_DOUBLE_EQ(is.predicted, was.predicted);
      EXPECT_EQ(is.terms, was.terms);
      EXPECT_EQ(is.cycles, was.cycles);
    }
  }
}

TEST(Price, FactsAreThoseOfTheProgram) {
  const NamedModel haswell("haswell");
  const Corpus drawn = DrawnCorpus(haswell.model);
  constexpr double kLanes = 8;
  for (const MeasuredProgram& program : drawn.specs[0].programs) {
    SCOPED_TRACE(program.schedule);
    EXPECT_GE(program.facts.at("multiply-adds"),
              24 * 40 * 32 / kLanes);  // sums are rounded up to whole vectors
    EXPECT_GT(program.facts.at("instructions"), program.facts.at("multiply-adds"));
    EXPECT_GE(program.facts.at("trips"), program.facts.at("microkernels"));
    EXPECT_FALSE(program.facts.contains("read L2"));  // all is in L1
    if (const auto held = program.facts.find("held L1"); held != program.facts.end()) {
      EXPECT_LE(held->second, 1);
    }
  }
  for (const MeasuredProgram& program : drawn.specs[1].programs)
    EXPECT_FALSE(program.facts.contains("trips")) << program.schedule;
}

TEST(Price, ByAnotherModelIsItsOwn) {
  const NamedModel haswell("haswell"), zen("znver3");
  const Corpus drawn = DrawnCorpus(haswell.model);
  const auto priced = PriceCorpus(drawn, zen.model, {});
  ASSERT_TRUE(priced.ok()) << priced.status();
  ASSERT_EQ(priced->specs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(priced->specs[i].programs.size(), drawn.specs[i].programs.size());
    bool differs = false;
    for (size_t k = 0; k < drawn.specs[i].programs.size(); ++k)
      differs |= priced->specs[i].programs[k].predicted != drawn.specs[i].programs[k].predicted;
    EXPECT_TRUE(differs) << drawn.specs[i].text;
  }
}

TEST(Price, WhatTheTargetHasNotIsLeftOut) {
  const NamedModel wide("znver4"), narrow("haswell");
  const auto priced = PriceCorpus(DrawnCorpus(wide.model), narrow.model, {});
  ASSERT_TRUE(priced.ok()) << priced.status();
  ASSERT_FALSE(priced->left_out.empty());  // vectors of 16
  EXPECT_EQ(priced->left_out[0].reason.find("schedule:"), 0u) << priced->left_out[0].reason;
  Corpus unknown;
  unknown.specs.resize(1);
  unknown.specs[0].text = "matmul f33 8x8x8";
  EXPECT_FALSE(PriceCorpus(unknown, wide.model, {}).ok());
}

TEST(Price, AProgramThatComesTwiceStaysOnce) {
  const NamedModel haswell("haswell");
  const CostModel& model = haswell.model;
  Corpus twice = DrawnCorpus(model);
  for (MeasuredSpec& spec : twice.specs) {
    MeasuredProgram again = spec.programs[0];
    again.cycles *= 2;
    spec.programs.push_back(again);
  }
  const auto priced = PriceCorpus(twice, model, {});
  ASSERT_TRUE(priced.ok()) << priced.status();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(priced->specs[i].programs.size(), twice.specs[i].programs.size() - 1);
    EXPECT_EQ(priced->specs[i].programs[0].cycles, twice.specs[i].programs[0].cycles);
  }
}

TEST(ReadCorpus, WhatIsNoCorpusIsSaidWithItsPlace) {
  const std::string program = R"({"schedule": "microkernel", "cycles": 10, "seconds": 1e-9, "spread": 0})";
  const auto with = [](const std::string& programs, const std::string& threads = "1") {
    return Cat(R"({"threads": )", threads,
               R"(, "cold": false, "specs": [{"spec": "s", "ghz": 3, "programs": )", programs, "}]}");
  };
  EXPECT_TRUE(ParseCorpus(with(Cat("[", program, "]")), "c").ok());
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "c:1:1: expected an object with \"threads\""},
      {"[", "c:1:2: "},
      {with("[]", "0"), "c:1:13: expected a number above 0, got 0"},
      {with("3"), "expected an array of programs, got 3"},
      {with("[{}]"), "expected an object with \"schedule\""},
      {with(R"([{"schedule": "x", "cycles": 0}])"), "expected a number above 0, got 0"},
      {with(R"([{"schedule": "x", "cycles": "1"}])"), "expected a number"},
  };
  for (const auto& [text, error] : wrong) {
    const auto corpus = ParseCorpus(text, "c");
    ASSERT_FALSE(corpus.ok()) << text;
    EXPECT_NE(corpus.status().message().find(error), std::string::npos) << corpus.status();
    EXPECT_EQ(corpus.status().message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace kirsch
