// SPDX-License-Identifier: Apache-2.0
// A kernel from its text to machine code, the way that the command line takes: a spec if it is one, else a
// plan.
#ifndef KIRSCH_TESTS_TESTING_TEXT_KERNEL_H_
#define KIRSCH_TESTS_TESTING_TEXT_KERNEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/loop/loop_program.h"
#include "codegen/verify/verify.h"
#include "spec/language/kernel_file.h"
#include "spec/program/plan.h"
#include "tests/testing/grammar_graph.h"

namespace kirsch::testing {

class TextKernel {
 public:
  // An error is what a user would read.
  static absl::StatusOr<TextKernel> Create(const std::string& text, const std::string& source,
                                           const Target& target, int threads);

  // As the product does it.
  VerifyReport Verify(bool header) const;

  // What the kernel makes of the parameters that `graph` has, on so many threads, one after the other;
  // between guard pages. The elements of all results, one result behind the other. An error says how it broke
  // the rules.
  absl::StatusOr<std::vector<double>> Run(const GrammarGraph& graph,
                                          const std::vector<std::vector<double>>& parameters,
                                          size_t threads) const;

  std::string Description() const;

 private:
  TextKernel(KernelRequest request, const Target& target) : request_(std::move(request)), target_(target) {}

  KernelRequest request_;
  Target target_;
  std::optional<Plan> plan_;
  std::optional<Impl> impl_;  // one of both
  LoopProgram program_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_TEXT_KERNEL_H_
