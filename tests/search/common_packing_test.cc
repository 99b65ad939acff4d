// SPDX-License-Identifier: Apache-2.0
// One packing of constants for all members of a family: the best one, by trying all candidates; and plans
// that have one buffer for them.
#include "search/families/common_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "search/graph/known_groups.h"
#include "spec/language/graph_family.h"
#include "spec/program/plan_program.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The members of a family, each as it is best.
class Family {
 public:
  Family(const std::string& text, const Target& target) : model_(target) {
    const auto family = ParseGraphFamily(Split({text, {}}, '\n'), "test");
    EXPECT_TRUE(family.ok()) << family.status();
    for (int64_t i = 0; i < family->count(); ++i) {
      graphs_.push_back(family->member(i));
      plans_.push_back(Require(Solve(plans_.size(), {}, kNever))->plan);
      AddCandidates(plans_.back(), target, &candidates_);
    }
  }

  absl::StatusOr<OrNoPlan<PlanResult>> Solve(size_t member, const PlanPacking& packing, double cutoff,
                                             PlanKnowledge* knowledge = nullptr) {
    PlanOptions options;
    options.knowledge = knowledge;
    options.packing = packing;
    options.cutoff = cutoff;
    SearchStages(model_, memo_, &options);
    return SearchPlan(graphs_[member], "test", model_, options);
  }

  double Cost(size_t member, const PlanPacking& packing, double cutoff = kNever,
              PlanKnowledge* knowledge = nullptr) {
    ++asked_;
    const auto found = Solve(member, packing, cutoff, knowledge);
    EXPECT_TRUE(found.ok()) << found.status();
    if (std::holds_alternative<NoPlan>(*found)) return kNever;
    const Plan& plan = std::get<PlanResult>(*found).plan;
    return plan.nests.empty() ? cutoff : plan.cycles;
  }

  std::vector<PackedMember> Members(const std::vector<double>& weights) const {
    std::vector<PackedMember> members;
    for (size_t i = 0; i < plans_.size(); ++i)
      members.push_back({weights[i], plans_[i].cycles, FindPacking(plans_[i])});
    return members;
  }

  // Its searches share what they learn of a member's groups, unlike those of BruteForce.
  CommonPacking Find(const std::vector<double>& weights) {
    const auto found =
        FindCommonPacking(Members(weights), candidates_,
                          [&](size_t i, const PlanPacking& packing, double cutoff) -> absl::StatusOr<double> {
                            return Cost(i, packing, cutoff, &knowledge_[i]);
                          });
    EXPECT_TRUE(found.ok()) << found.status();
    return *found;
  }

  // The least weighted sum of all choices.
  double BruteForce(const std::vector<double>& weights) {
    double least = kNever;
    Try(weights, candidates_.begin(), {}, &least);
    return least;
  }

  size_t size() const { return plans_.size(); }
  const std::vector<Plan>& plans() const { return plans_; }
  const PackingCandidates& candidates() const { return candidates_; }
  int asked() const { return asked_; }

 private:
  void Try(const std::vector<double>& weights, PackingCandidates::const_iterator next, PlanPacking packing,
           double* least) {
    if (next == candidates_.end()) {
      double sum = 0;
      for (size_t i = 0; i < plans_.size(); ++i) sum += weights[i] * Cost(i, packing);
      *least = std::min(*least, sum);
      return;
    }
    for (const CopiesOfConstant& copies : next->second) {
      packing[next->first] = copies;
      Try(weights, std::next(next), packing, least);
    }
  }

  const CostModel model_;
  HashMemo memo_;
  std::vector<Graph> graphs_;
  std::vector<Plan> plans_;
  PackingCandidates candidates_;
  std::map<size_t, PlanKnowledge> knowledge_;  // by member
  int asked_ = 0;
};

TEST(CommonPackingTest, IsTheBestOfAllCandidates) {
  const char* const texts[] = {
      "kernel f[m = 1..4](x: f32[m,7], w: const f32[7,12]):\n return matmul(x, w)",
      "kernel f[m = 1|3|8](x: f32[7,m], w: const f32[12,7], b: const f32[12,1]):\n"
      " return tanh(add(matmul(w, x), b))",
      "kernel f[m = 1|2|6](x: f32[m,9], w: const f32[9,11], v: const f32[11,5]):\n"
      " return matmul(relu(matmul(x, w)), v)",
      "kernel f[m = 1|5](x: bf16[m,9], w: const bf16[9,13], b: const f32[13], v: const bf16[13,9]):\n"
      " return matmul(cast(relu(add(cast(matmul(x, w), f32), b)), bf16), v)",
      "kernel f[m = 2..4](x: f32[m,8], w: const f32[8,8]):\n return matmul(softmax(matmul(x, w)), w)",
  };
  std::mt19937_64 random(5);
  int dearer = 0, choices = 0;
  for (const Target& target : {TinyTarget(), TinyDotTarget()})
    for (const char* text : texts) {
      Family family(text, target);
      for (int round = 0; round < 2; ++round) {
        std::vector<double> weights;
        for (size_t i = 0; i < family.size(); ++i)
          weights.push_back(round == 0 ? 1 : 0.01 + static_cast<double>(random() % 50));
        const CommonPacking found = family.Find(weights);
        const double least = family.BruteForce(weights);
        double sum = 0, own = 0;
        for (size_t i = 0; i < family.size(); ++i) {
          sum += weights[i] * family.Cost(i, found.packing);
          own += weights[i] * family.plans()[i].cycles;
        }
        EXPECT_NEAR(sum, least, 1e-9 * least) << text;
        EXPECT_NEAR(found.loss, least / own - 1, 1e-9) << text;
        dearer += found.loss > 1e-6;
      }
      for (const auto& [constant, copies] : family.candidates()) choices += copies.size() > 1;
    }
  EXPECT_GT(dearer, 0);
  EXPECT_GT(choices, 4);
}

constexpr char kMlp[] =
    "kernel f[m = 1|64](x: f32[m,256], w: const f32[256,512], b: const f32[512], v: const f32[512,256]):\n"
    " return matmul(relu(add(matmul(x, w), b)), v)";

// The mixture decides: each extreme gets what it likes best.
TEST(CommonPackingTest, FollowsTheWeights) {
  Family family(kMlp, FindTarget("znver4", "")->target);
  const CommonPacking small = family.Find({1, 1e-9}), large = family.Find({1e-9, 1});
  const double own_small = family.plans()[0].cycles, own_large = family.plans()[1].cycles;
  EXPECT_EQ(family.Cost(0, small.packing), own_small);
  EXPECT_EQ(family.Cost(1, large.packing), own_large);
  EXPECT_GT(family.Cost(1, small.packing), own_large);
  EXPECT_GT(family.Cost(0, large.packing), own_small);
  EXPECT_GT(family.Find({1, 1}).loss, 1e-6);
}

// Where all agree, nothing is asked.
TEST(CommonPackingTest, WhatAllAgreeOnIsNotSearchedFor) {
  Family family("kernel f[m = 2..3](x: f32[m,33], b: const f32[33]):\n return softmax(add(x, b))",
                TinyTarget());
  EXPECT_EQ(family.Find({1, 1}).loss, 0);
  EXPECT_EQ(family.asked(), 0);
}

// What is made ahead, and where it lies, whichever plan it is.
std::string AheadOf(const Plan& plan, const Target& target) {
  const Program program = WriteProgram(plan, target);
  std::string text = Cat(program.packed_bytes, " bytes");
  ForEachRun(program.prepack, [&](const KernelRun& run) {
    Append(&text, "; kernel ", program.kernels[static_cast<size_t>(run.kernel)].index());
    for (const OperandPlace& place : run.at) {
      const Program::Buffer& buffer = program.buffers[static_cast<size_t>(place.buffer)];
      Append(&text, " ", static_cast<int>(buffer.memory), buffer.constant ? buffer.name : "", " ",
             buffer.offset);
    }
  });
  return text;
}

TEST(CommonPackingTest, PlansShareOneBuffer) {
  const Target target = Avx512Target();
  int differed = 0;
  for (const char* text :
       {kMlp,
        "kernel f[m = 1|200](x: f32[m,64], w: const f32[64,300], v: const f32[300,64]):\n"
        " return matmul(relu(matmul(x, w)), v)",
        "kernel f[m = 1|7|33](x: f32[m,64], w: const f32[64,64], b: const f32[64]):\n"
        " h = softmax(matmul(x, w))\n return add(matmul(h, transpose(w)), matmul(h, w))"}) {
    Family family(text, target);
    std::vector<Plan> plans = family.plans();
    std::vector<Plan*> pointers;
    std::vector<double> costs;
    for (Plan& plan : plans) pointers.push_back(&plan);
    SharePacking(pointers);
    for (const Plan& plan : plans) {
      EXPECT_EQ(AheadOf(plan, target), AheadOf(plans.front(), target)) << text;
      EXPECT_EQ(FindPacking(plan), FindPacking(plans.front()));
      const VerifyReport report = VerifyPlan(plan, target);
      EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << PrintPlan(plan);
    }
    differed += AheadOf(family.plans().front(), target) != AheadOf(family.plans().back(), target);
    // What is shared already stays as it is.
    const std::string before = AheadOf(plans.front(), target);
    SharePacking(pointers);
    EXPECT_EQ(AheadOf(plans.front(), target), before);
  }
  EXPECT_GT(differed, 0);
}

}  // namespace
}  // namespace kirsch::testing
