// SPDX-License-Identifier: Apache-2.0
// What the search is asked about a graph does not depend on how it is written.
#include "rewrites/graph/canonical_graph.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "search/table/plan_recall.h"
#include "spec/language/kernel_file.h"
#include "tests/testing/grammar_graph.h"

namespace kirsch::testing {
namespace {

// Nothing for what is a spec or a family.
std::string QuestionOf(const std::string& text) {
  const auto requests = ParseKernelFile(text, "test");
  EXPECT_TRUE(requests.ok()) << requests.status() << "\n" << text;
  if (!requests.ok() || !requests->front().family.graphs()) return "";
  return PlanQuestion(requests->front().family.graphs()->member(0), {});
}

TEST(CanonicalGraphTest, TheOrderOfStatementsMakesNoDifference) {
  int asked = 0;
  for (unsigned round = 0; round < 400; ++round) {
    std::mt19937 random(round);
    const GrammarGraph graph = RandomGrammarGraph(2 + static_cast<int>(round) % 10, random);
    const std::string text = GrammarText(graph, random), question = QuestionOf(text);
    for (int order = 0; order < 3; ++order) {
      const std::string other = GrammarText(graph, random);
      EXPECT_EQ(QuestionOf(other), question) << text << "\nand\n" << other;
    }
    asked += question.empty() ? 0 : 1;
  }
  EXPECT_GT(asked, 300);
}

TEST(CanonicalGraphTest, TheCanonicalFormIsItsOwn) {
  for (unsigned round = 0; round < 1000; ++round) {
    std::mt19937 random(round);
    const GrammarGraph graph = RandomGrammarGraph(2 + static_cast<int>(round) % 10, random);
    const std::string text = GrammarText(graph, random);
    const auto requests = ParseKernelFile(text, "test");
    ASSERT_TRUE(requests.ok()) << requests.status() << "\n" << text;
    if (!requests->front().family.graphs()) continue;
    const Graph member = requests->front().family.graphs()->member(0);
    EXPECT_EQ(PlanQuestion(CanonicalGraph(member), {}), PlanQuestion(member, {})) << text;
  }
}

TEST(CanonicalGraphTest, NamesAndWhatIsWrittenTwiceMakeNoDifference) {
  const std::string question = QuestionOf(
      "kernel a(x: f32[9,20], w: f32[20,30], n: f32[1,1]):\n v = matmul(x, w)\n return add(exp(v), tanh(v))");
  EXPECT_NE(question, "");
  EXPECT_EQ(QuestionOf("kernel other(b: f32[9,20], a: f32[20,30], m: f32[1,1]):\n"
                       " return add(exp(matmul(b, a)), tanh(matmul(b, a)))"),
            question);
  EXPECT_EQ(QuestionOf("kernel a(x: f32[9,20], w: f32[20,30], n: f32[1,1]):\n u = exp(n)\n v = matmul(x, w)\n"
                       " t = tanh(v)\n s = tanh(v)\n return add(exp(v), s)"),
            question);
}

// Each result is memory of its own, so one of both is a copy. What reads a result with strides reads a dense
// value, of which the result is a copy.
TEST(CanonicalGraphTest, ResultsAreApart) {
  const auto canonical = [](const std::string& text) {
    return PrintGraph(CanonicalGraph(ParseKernelFile(text, "test")->front().family.graphs()->member(0)));
  };
  EXPECT_EQ(
      canonical("kernel a(x: f32[9,20]):\n a = relu(x)\n b = max(x, 0)\n c = relu(x)\n d = c\n"
                " return a, c, d"),
      "kernel a(x: f32[9,20]) -> (f32[9,20], f32[9,20], f32[9,20]):\n  a = relu(x)\n  c = cast(a, f32)\n"
      "  d = cast(c, f32)\n  return a, c, d\n");
  EXPECT_EQ(canonical("kernel a(x: f32[9,20]) -> (f32[9,20] strides=[32,1], f32[9,1]):\n a = relu(x)\n"
                      " b = reduce_sum(a, axis=1)\n return a, b"),
            "kernel a(x: f32[9,20]) -> (f32[9,20] strides=[32,1], f32[9,1]):\n  v1 = relu(x)\n"
            "  a = cast(v1, f32)\n  b = reduce_sum(v1, axis=1)\n  return a, b\n");
}

TEST(CanonicalGraphTest, OtherGraphsAreOtherQuestions) {
  const std::string text =
      "kernel a(x: f32[9,20], w: f32[20,30]):\n return relu(softmax(add(matmul(x, w), 1)))";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    return QuestionOf(other.replace(other.find(from), from.size(), to));
  };
  for (const auto& [from, to] : {std::pair("9", "8"),
                                 {"w: ", "w: const "},
                                 {"relu", "gelu"},
                                 {", 1", ", -1"},
                                 {"matmul(x, w), 1", "1, matmul(x, w)"}})
    EXPECT_NE(changed(from, to), QuestionOf(text)) << from << " -> " << to;
}

}  // namespace
}  // namespace kirsch::testing
