// SPDX-License-Identifier: Apache-2.0
// Texts drawn from what users may write of weights of blocks, families and mixtures: right ones are read,
// solved and verified as the product does it, and those with a piece that is wrong are refused on one line
// that says where it is. KIRSCH_RANDOM_GRAPHS=N verifies N of each kind.
#include "tests/testing/drawn_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/llvm/host_cpu.h"
#include "spec/language/kernel_file.h"
#include "spec/text/cat.h"
#include "tests/testing/isolated.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"
#include "tests/testing/text_kernel.h"

namespace kirsch::testing {
namespace {

constexpr unsigned kSecondsEach = 60;
constexpr char kSource[] = "drawn";

std::vector<Target> Targets() {
  std::vector<Target> targets;
  for (const Target& target :
       {Avx2Target(), Avx512Target(), Avx512DotTarget(), Avx2DotTarget(), MatrixTarget()})
    if (MissingOnHost(target.features).empty()) targets.push_back(target);
  return targets;
}

// What is wrong with the kernel that a text is; nothing if it is right.
std::string Fault(const std::string& text, const Target& target) {
  const absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(text, kSource);
  if (!requests.ok()) return std::string(requests.status().message());
  const std::string printed = requests->front().text();
  const absl::StatusOr<std::vector<KernelRequest>> again = ParseKernelFile(printed, kSource);
  if (!again.ok() || again->front().text() != printed) return Cat("printed as another: ", printed);
  const absl::StatusOr<TextKernel> kernel = TextKernel::Create(text, kSource, target, 1);
  if (!kernel.ok()) return std::string(kernel.status().message());
  return kernel->Verify(false).first_mismatch;
}

void ExpectRight(DrawnText (*draw)(std::mt19937&)) {
  const std::vector<Target> targets = Targets();
  if (targets.empty()) GTEST_SKIP() << "this host can run no code";
  const std::vector<IsolatedCase> cases = RunIsolated(Rounds(60), kSecondsEach, [&](int i, const Note& note) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const std::string text = draw(random).Text();
    const Target& target = targets[static_cast<size_t>(i) % targets.size()];
    note(Cat(target.name, ": ", text));
    const std::string fault = Fault(text, target);
    return fault.empty() ? "" : Cat(fault, "\n", target.name, ": ", text);
  });
  for (const IsolatedCase& one : cases) EXPECT_EQ(one.text, "");
}

// What is wrong with how a text is refused; nothing if it is on one line, at the piece that is wrong.
std::string FaultOfRefusal(const DrawnText& drawn) {
  const absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(drawn.Text(), kSource);
  if (requests.ok()) return "not refused";
  const std::string message(requests.status().message());
  int line = 0, column = 0, length = 0;
  const int found = std::sscanf(message.c_str(), "drawn:%d:%d: expected %n", &line, &column, &length);
  const bool printable =
      std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (found != 2 || length == 0 || !printable) return message;
  return drawn.IsWrongAt(line, column) ? "" : Cat("elsewhere: ", message);
}

void ExpectRefused(DrawnText (*draw)(std::mt19937&)) {
  const std::vector<IsolatedCase> cases = RunIsolated(3000, kSecondsEach, [&](int i, const Note& note) {
    std::mt19937 random(static_cast<uint32_t>(i));
    const DrawnText drawn = draw(random);
    note(drawn.Text());
    const std::string fault = FaultOfRefusal(drawn);
    return fault.empty() ? ""
                         : Cat(fault, "\n", drawn.Text(), "\nwrong is ",
                               drawn.pieces[static_cast<size_t>(drawn.wrong)]);
  });
  std::set<std::string> faults;
  for (const IsolatedCase& one : cases)
    if (!one.text.empty() && faults.insert(one.text.substr(0, 40)).second) ADD_FAILURE() << one.text;
}

TEST(DrawnTextTest, RightSpecsAreVerified) { ExpectRight(RightSpec); }
TEST(DrawnTextTest, RightKernelsAreVerified) { ExpectRight(RightKernel); }
TEST(DrawnTextTest, WrongSpecsAreRefusedWhereTheyAreWrong) { ExpectRefused(WrongSpec); }
TEST(DrawnTextTest, WrongKernelsAreRefusedWhereTheyAreWrong) { ExpectRefused(WrongKernel); }

}  // namespace
}  // namespace kirsch::testing
