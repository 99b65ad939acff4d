// SPDX-License-Identifier: Apache-2.0
// Verification took far longer than the search: all inputs were made anew for every run and every engine.
#include <gtest/gtest.h>

#include <string>

#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_ladder.h"
#include "spec/language/parser.h"
#include "tests/testing/plain_kernel.h"

namespace kirsch {
namespace {

Spec Parsed(const std::string& text) { return ParseSpec(text)->spec; }

TEST(SlowVerification, OfVeryManyElementsThereIsOneRun) {
  const ContractionProblem narrow(Parsed("matmul u8*s8->s32 1048576x2100x4"));
  EXPECT_EQ(PlanTrials(narrow, 1, 1).trials.size(), 1u);
  const ContractionProblem square(Parsed("matmul f32 1024x1024x1024"));
  EXPECT_EQ(PlanTrials(square, 1, 1).trials.size(), 3u);
}

class CountingProblem : public ContractionProblem {
 public:
  using ContractionProblem::ContractionProblem;

  void Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const override {
    ++(IsOutput(tensor) ? outputs : inputs);
    ContractionProblem::Fill(tensor, kind, seed, data);
  }

  mutable int inputs = 0, outputs = 0;
};

TEST(SlowVerification, EnginesShareTheInputsOfARun) {
  const Spec spec = Parsed("matmul f32 7x9x11");
  const CountingProblem problem(spec);
  Ladder ladder(problem, {1000, {{.kind = InputKind::kIntegers}}});
  for (int engine = 0; engine < 3; ++engine)
    EXPECT_EQ(ladder.Climb(testing::PlainKernel(spec, {}), 1).outcome, RungOutcome::kPassed);
  EXPECT_EQ(problem.inputs, 2);
  EXPECT_EQ(problem.outputs, 3);
}

// What one engine has left is not held against the next.
TEST(SlowVerification, AfterAWrongRunInputsAreMadeAnew) {
  const Spec spec = Parsed("matmul f32 7x9x11");
  const CountingProblem problem(spec);
  Ladder ladder(problem, {1000, {{.kind = InputKind::kIntegers}}});
  testing::Flaw flaw;
  Kernel wrong = testing::PlainKernel(spec, flaw);
  wrong.run = [](const KernelCall&) {};
  EXPECT_EQ(ladder.Climb(wrong, 1).outcome, RungOutcome::kFailed);
  EXPECT_EQ(ladder.Climb(testing::PlainKernel(spec, flaw), 1).outcome, RungOutcome::kPassed);
  EXPECT_EQ(problem.inputs, 4);
}

}  // namespace
}  // namespace kirsch
