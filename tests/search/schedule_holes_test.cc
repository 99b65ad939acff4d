// SPDX-License-Identifier: Apache-2.0
// A schedule with holes finds the cheapest of all programs that match it: those are written out one by one,
// and matched by their texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "memo/hash_memo.h"
#include "search/solver/replay.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "tests/testing/all_programs.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

// A schedule as this test writes it.
struct Pattern {
  std::vector<std::string> words;  // none: anything
  std::vector<Pattern> children;
  bool gap() const { return words == std::vector<std::string>{"..."}; }
};

std::vector<std::string> WordsOf(const Impl& impl) {
  return absl::StrSplit(PrintDecision(impl.spec.op, impl.decision), ' ');
}

// The child with the most products in all its runs.
size_t BusiestChild(const Impl& impl) {
  const auto products = [&](const Impl::Child& child) {
    double product = static_cast<double>(child.trips);
    for (int dim = 0; dim < child.impl.spec.op_info().num_dims; ++dim)
      product *= child.impl.spec.size[static_cast<size_t>(dim)];
    return product;
  };
  // The runs of threads count once.
  const bool shared = impl.decision.kind == RewriteKind::kParallelTile;
  size_t most = 0;
  for (size_t i = 1; i < impl.children.size() && !shared; ++i)
    if (products(impl.children[i]) > products(impl.children[most])) most = i;
  return most;
}

// "?" is any word, and words that are left out at the end are any. A move into a cache has no layout.
bool Match(const std::vector<std::string>& words, std::vector<std::string> pattern) {
  if (pattern == std::vector<std::string>{"microkernel", "?"}) return words[0] == "microkernel";
  if (words[0] == "move" && pattern.size() > words.size() && pattern.back() == "?") pattern.pop_back();
  if (pattern.size() > words.size()) return false;
  for (size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] != "?" && pattern[i] != words[i]) return false;
  return words.size() == pattern.size() || words[0] != "microkernel";
}

bool Matches(const Impl& impl, const Pattern& pattern) {
  if (pattern.words.empty()) return true;
  if (pattern.gap())
    return Matches(impl, pattern.children[0]) ||
           (!impl.children.empty() && Matches(impl.children[BusiestChild(impl)].impl, pattern));
  if (!Match(WordsOf(impl), pattern.words) || pattern.children.size() > impl.children.size()) return false;
  for (size_t i = 0; i < pattern.children.size(); ++i)
    if (!Matches(impl.children[i].impl, pattern.children[i])) return false;
  return true;
}

// Draws what matches the program.
class PatternDrawer {
 public:
  explicit PatternDrawer(std::mt19937_64* random) : random_(*random) {}

  Pattern Draw(const Impl& impl) {
    if (OneOf(6)) return {};
    if (OneOf(4)) return Gap(impl);
    Pattern pattern{WordsOf(impl), {}};
    for (size_t i = 1; i < pattern.words.size(); ++i)
      if (OneOf(3)) pattern.words[i] = "?";
    if (pattern.words[0] == "microkernel" && OneOf(2)) pattern.words = {"microkernel", "?"};
    // The type of a copy, or it and its layout, or a layout of registers, may have no word.
    const bool registers = pattern.words[0] == "move" && pattern.words[2] == "VRF";
    for (int left = pattern.words[0] == "pack" ? 2 : registers ? 1 : 0; left > 0 && OneOf(3); --left)
      pattern.words.pop_back();
    // Those beside threads' tiles cost nothing, so all programs have one of them alone.
    const size_t most = impl.decision.kind == RewriteKind::kParallelTile ? 1 : impl.children.size();
    for (size_t i = 0; i < most && !OneOf(4); ++i) pattern.children.push_back(Draw(impl.children[i].impl));
    return pattern;
  }

 private:
  bool OneOf(uint64_t count) { return random_() % count == 0; }

  // A gap, and then some node on the way to most of the work.
  Pattern Gap(const Impl& impl) {
    const Impl* node = &impl;
    while (!node->children.empty() && !OneOf(3)) node = &node->children[BusiestChild(*node)].impl;
    Pattern below = Draw(*node);
    if (below.words.empty()) return {};
    return {{"..."}, {std::move(below)}};
  }

  std::mt19937_64& random_;
};

// Its text: lines, or where there is one child of some node, also semicolons.
void PrintPattern(const Pattern& pattern, const std::string& before, const std::string& indent,
                  std::string* text) {
  std::string line = pattern.words.empty() ? "search" : "";
  for (const std::string& word : pattern.words) Append(&line, line.empty() ? "" : " ", word);
  if (pattern.children.size() == 1 && line.size() % 2 == 0)
    return PrintPattern(pattern.children[0], before + line + "; ", indent, text);
  Append(text, indent, before, line, "\n");
  for (const Pattern& child : pattern.children) PrintPattern(child, "", indent + "  ", text);
}

class ScheduleHolesTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ScheduleHolesTest,
                         ::testing::Values("matmul f32 2x2x2", "matmul f32 3x2x4", "matmul f32 2x3x5 rhs=col",
                                           "matmul f32 4x2x3 lhs=col accumulate", "matmul f32 2:2x2x3",
                                           "matmul f32 3x4x2 epilogue=relu", "matmul f32 2x2x2 const-rhs",
                                           "conv2d f32 1x2x3x3 filters=2 kernel=2x2 layout=nhwc"));

TEST_P(ScheduleHolesTest, TheCheapestThatMatches) {
  const CostModel model(testing::TinyTarget());
  std::mt19937_64 random(1);
  HashMemo shared;  // knows what was asked before
  int dearer = 0;
  for (const Residency residency : {Residency::kWarm, Residency::kCold})
    for (const int threads : {1, 2}) {
      Spec placed = PlaceOperands(ParseSpec(GetParam())->spec, residency, model.target());
      placed.threads = static_cast<uint8_t>(threads);
      const std::vector<testing::Priced> all = testing::ProgramsNearTheBest(placed, model, 5000);
      ASSERT_FALSE(all.empty());
      const Cost best = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                          return a.cost < b.cost;
                        })->cost;
      for (int turn = 0; turn < 60; ++turn) {
        const Pattern pattern = PatternDrawer(&random).Draw(all[random() % all.size()].impl);
        std::string text;
        PrintPattern(pattern, "", "", &text);
        SCOPED_TRACE(Cat(GetParam(), ", ", threads, " threads\n", text));
        Cost least = kInfiniteCost;
        for (const testing::Priced& program : all)
          if (program.cost < least && Matches(program.impl, pattern)) least = program.cost;
        const absl::StatusOr<Schedule> schedule = ParseSchedule(text, "s", placed.op);
        ASSERT_TRUE(schedule.ok()) << schedule.status();
        HashMemo fresh;
        for (HashMemo* memo : {&fresh, &shared}) {
          const absl::StatusOr<SearchResult> found = Replay(placed, *schedule, "s", model, *memo, {});
          ASSERT_TRUE(found.ok()) << found.status();
          EXPECT_EQ(found->cost, least);
          EXPECT_EQ(testing::CostOf(found->impl, model), found->cost);
          EXPECT_TRUE(Matches(found->impl, pattern)) << PrintSchedule(found->impl);
          EXPECT_EQ(found->stop, StopReason::kPinned);
        }
        dearer += least > best ? 1 : 0;
      }
    }
  EXPECT_GT(dearer, 20);  // else schedules would say nothing
}

}  // namespace
}  // namespace kirsch
