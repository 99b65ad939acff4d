// SPDX-License-Identifier: Apache-2.0
// Runs the machine code of a plan with one result of f32, where the host can.
#ifndef KIRSCH_TESTS_TESTING_PLAN_CODE_H_
#define KIRSCH_TESTS_TESTING_PLAN_CODE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch::testing {

// What machine code of the plan makes of the inputs. The output is NaNs before.
inline std::vector<float> RunPlan(const Plan& plan, const Target& target,
                                  std::vector<std::vector<float>> tensors) {
  const LoopProgram program = Lower(plan, target, "kernel");
  const auto kernel = JitCompile(program, target);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  tensors.emplace_back(static_cast<size_t>(plan.graph.TypeOf(plan.graph.results.front()).elements()),
                       std::numeric_limits<float>::quiet_NaN());
  std::vector<void*> pointers;
  for (std::vector<float>& tensor : tensors) pointers.push_back(tensor.data());
  std::vector<std::max_align_t> scratch(
      static_cast<size_t>(program.scratch_bytes) / sizeof(std::max_align_t) + 8);
  void* aligned = scratch.data();
  size_t room = scratch.size() * sizeof(std::max_align_t);
  (*kernel)->Caller()({pointers, std::align(64, static_cast<size_t>(program.scratch_bytes), aligned, room)});
  return tensors.back();
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAN_CODE_H_
