// SPDX-License-Identifier: Apache-2.0
// Kernels drawn from the grammar of the kernel language, in several orders of their statements, from text to
// machine code: verified as the product does it, and compared with an evaluation that shares nothing with it.
// KIRSCH_RANDOM_GRAPHS=N draws N of them, from number KIRSCH_FIRST_GRAPH on.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "codegen/llvm/host_cpu.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/isolated.h"
#include "tests/testing/plain_graph.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/text_kernel.h"

namespace kirsch::testing {
namespace {

constexpr int kOrders = 2;
constexpr int kGraphsPerHeader = 50;  // compiling C is slow
constexpr unsigned kSecondsEach = 60;
constexpr char kSource[] = "drawn.kirsch";

int FirstGraph() {
  const char* const asked = std::getenv("KIRSCH_FIRST_GRAPH");
  return asked == nullptr ? 1 : std::atoi(asked);
}

// Those that this host can run.
std::vector<Target> Targets() {
  std::vector<Target> targets;
  for (const char* name : {"host", "haswell", "sapphirerapids"}) {
    const absl::StatusOr<TargetFile> found = FindTarget(name, DetectHostCpu().name);
    if (found.ok() && MissingOnHost(found->target.features).empty()) targets.push_back(found->target);
  }
  return targets;
}

// A drawn graph, and what it makes of drawn parameters.
class Drawn {
 public:
  explicit Drawn(int number) : random_(static_cast<uint32_t>(number)) {
    graph_ = RandomGrammarGraph(1 + number % 8, random_);
    DrawParameters();
  }

  void DrawParameters() {
    parameters_.clear();
    for (int i = 0; i < graph_.parameters; ++i) parameters_.push_back(RandomElements(graph_.at(i), random_));
  }

  std::string DrawText() { return GrammarText(graph_, random_); }
  std::vector<Bounds> Expected() const { return PlainResult(graph_, parameters_); }
  absl::StatusOr<std::vector<double>> Computed(const TextKernel& kernel, int threads) const {
    return kernel.Run(graph_, parameters_, static_cast<size_t>(threads));
  }

 private:
  std::mt19937 random_;
  GrammarGraph graph_;
  std::vector<std::vector<double>> parameters_;
};

// What is wrong with a graph's kernels, or "refused: MESSAGE", or "right SHARE" of telling elements.
std::string Outcome(int number, const std::vector<Target>& targets, const Note& note) {
  Drawn drawn(number);
  const std::vector<Bounds> expected = drawn.Expected();
  for (int order = 0; order < kOrders; ++order) {
    Target target = targets[static_cast<size_t>(number / 8 + order) % targets.size()];
    const int threads = (number + order) % 3 == 0 ? 2 : 1;
    if (threads > 1) target = WithFreeThreads(target);
    const std::string text = drawn.DrawText();
    const std::string what = Cat("\nnumber ", number, ", ", target.name, ", ", threads, " threads:\n", text);
    note(what);
    const absl::StatusOr<TextKernel> kernel = TextKernel::Create(text, kSource, target, threads);
    if (!kernel.ok()) return Cat("refused: ", std::string(kernel.status().message()), what);
    if (order == 0) {
      const VerifyReport report = kernel->Verify(number % kGraphsPerHeader == 0);
      if (!report.ok) return Cat("not verified: ", report.first_mismatch, what, kernel->Description());
    }
    const absl::StatusOr<std::vector<double>> got = drawn.Computed(*kernel, threads);
    const std::string wrong = got.ok() ? FirstOutside(expected, *got) : std::string(got.status().message());
    if (!wrong.empty()) return Cat(wrong, what, kernel->Description());
  }
  return Cat("right ", TellingShare(expected));
}

TEST(GrammarTest, DrawnKernelsAreRight) {
  const std::vector<Target> targets = Targets();
  if (targets.empty()) GTEST_SKIP() << "this host can run no code";
  const int count = Rounds(300);
  const std::vector<IsolatedCase> cases = RunIsolated(
      count, kSecondsEach, [&](int i, const Note& note) { return Outcome(FirstGraph() + i, targets, note); });
  int refused = 0;
  double telling = 0;
  for (const IsolatedCase& one : cases) {
    double share = 0;
    if (absl::StartsWith(one.text, "refused: ")) {
      ++refused;
      EXPECT_TRUE(absl::StartsWith(one.text, Cat("refused: ", kSource, ":"))) << one.text;
    } else if (absl::StartsWith(one.text, "right ") && absl::SimpleAtod(one.text.substr(6), &share)) {
      telling += share;
    } else {
      ADD_FAILURE() << one.text;
    }
  }
  std::printf("%d graphs, %d of them refused; %.3f of the elements are telling\n", count, refused,
              telling / (count - refused));
  EXPECT_LE(refused, count / 10 + 1);
  EXPECT_GE(telling, 0.8 * (count - refused));
}

// That the comparison can fail: what a kernel makes of other parameters is not what it makes of these.
TEST(GrammarTest, ResultsForOtherParametersAreTold) {
  const std::vector<Target> targets = Targets();
  if (targets.empty()) GTEST_SKIP() << "this host can run no code";
  const std::vector<IsolatedCase> cases =
      RunIsolated(40, kSecondsEach, [&](int i, const Note&) -> std::string {
        Drawn drawn(1 + i);
        const std::vector<Bounds> expected = drawn.Expected();
        const absl::StatusOr<TextKernel> kernel =
            TextKernel::Create(drawn.DrawText(), kSource, targets[0], 1);
        if (!kernel.ok() || TellingShare(expected) < 0.9) return "";
        drawn.DrawParameters();
        const absl::StatusOr<std::vector<double>> got = drawn.Computed(*kernel, 1);
        return got.ok() && FirstOutside(expected, *got).empty() ? "alike" : "told";
      });
  int told = 0, alike = 0;
  for (const IsolatedCase& one : cases) {
    told += one.text == "told" ? 1 : 0;
    alike += one.text == "alike" ? 1 : 0;
  }
  EXPECT_GE(told, 25);
  EXPECT_LE(alike, 4);  // relu of what is negative, and such
}

}  // namespace
}  // namespace kirsch::testing
