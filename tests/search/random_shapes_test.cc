// SPDX-License-Identifier: Apache-2.0
// Random shapes through the whole path: spec -> program -> every rung of the ladder, for all instruction sets
// and all element types. KIRSCH_RANDOM_SHAPES=N in the environment sets how many shapes each test draws.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <tuple>

#include "absl/strings/numbers.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/verify/verify.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

constexpr int kShapesPerHeader = 20;  // compiling C is slow: not every program is

int Shapes(int usually) {
  const char* const wanted = std::getenv("KIRSCH_RANDOM_SHAPES");
  int shapes = usually;
  return wanted != nullptr && absl::SimpleAtoi(wanted, &shapes) ? shapes : usually;
}

void Verify(const Impl& impl, const Target& target, int round) {
  VerifyOptions options;
  options.seed = static_cast<uint64_t>(round);
  options.header = round % kShapesPerHeader == 0;
  const VerifyReport report = VerifyKernel(impl, target, options);
  EXPECT_TRUE(report.ok) << "shape " << round << ": " << testing::Describe(impl.spec) << "\n"
                         << report.first_mismatch << "\n"
                         << testing::Describe(impl);
  EXPECT_LE(report.max_error, report.error_bound);
}

Impl Chosen(const Spec& spec, const CostModel& model) {
  HashMemo memo;
  return Search(PlaceOperands(spec, Residency::kWarm, model.target()), model, memo, {}).impl;
}

using EveryTarget = testing::OnTargetTest;
INSTANTIATE_TEST_SUITE_P(, EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// What the search chooses.
TEST_P(EveryTarget, ChosenProgramsAreRight) {
  std::mt19937_64 random(11);
  const CostModel model(GetParam());
  for (int round = 0; round < Shapes(12) && !HasFailure(); ++round) {
    const Spec spec = testing::RandomMatmulSpec({.max_side = 300, .constants = true}, &random);
    Verify(Chosen(spec, model), GetParam(), round);
  }
}

// What it may choose: programs drawn from its space, which reach corners that no good program does.
TEST_P(EveryTarget, DrawnProgramsAreRight) {
  std::mt19937_64 random(12);
  for (int round = 0; round < Shapes(200) && !HasFailure(); ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 300, .max_flops = 4e6, .constants = true}, &random);
    spec.threads = round % 4 == 0 ? 6 : 1;
    Verify(testing::RandomImpl(spec, GetParam(), &random), GetParam(), round);
  }
}

class EveryTypes : public ::testing::TestWithParam<std::tuple<Target, MatmulTypes>> {
 protected:
  void SetUp() override {
    const std::string missing = MissingOnHost(target().features);
    if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  }
  const Target& target() const { return std::get<0>(GetParam()); }
  const MatmulTypes& types() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(, EveryTypes,
                         ::testing::Combine(::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                                              testing::Avx512DotTarget(),
                                                              testing::MatrixTarget()),
                                            ::testing::ValuesIn(testing::EveryTypes())),
                         [](const auto& info) {
                           const std::string target = std::get<0>(info.param).name;
                           return target.substr(0, target.find('-')) + "_" +
                                  testing::NameOf(std::get<1>(info.param));
                         });

// Half of the programs are chosen, half drawn.
TEST_P(EveryTypes, ProgramsAreRight) {
  std::mt19937_64 random(13);
  const CostModel model(target());
  for (int round = 0; round < Shapes(10) && !HasFailure(); ++round) {
    Spec spec = testing::RandomMatmulSpec(
        {.max_side = 200, .max_flops = 4e6, .types = types(), .constants = true}, &random);
    if (round % 2 == 0) {
      Verify(Chosen(spec, model), target(), round);
    } else {
      spec.threads = round % 4 == 1 ? 6 : 1;
      Verify(testing::RandomImpl(spec, target(), &random), target(), round);
    }
  }
}

// The same with something done to the sums.
TEST_P(EveryTypes, ProgramsWithAnEpilogueAreRight) {
  std::mt19937_64 random(14);
  const CostModel model(target());
  for (int round = 0; round < Shapes(10) && !HasFailure(); ++round) {
    const Spec plain =
        testing::RandomMatmulSpec({.max_side = 200, .max_flops = 4e6, .types = types()}, &random);
    Spec spec = testing::WithRandomEpilogue(plain, &random);
    if (round % 2 == 0) {
      Verify(Chosen(spec, model), target(), round);
    } else {
      spec.threads = round % 4 == 1 ? 6 : 1;
      Verify(testing::RandomImpl(spec, target(), &random), target(), round);
    }
  }
}

}  // namespace
}  // namespace kirsch
