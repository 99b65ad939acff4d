// SPDX-License-Identifier: Apache-2.0
// Slices, concatenations, pads and windows: the reference and machine code against loops over all elements,
// which know nothing of parts; what the search makes of them beside other operations; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/host_cpu.h"
#include "codegen/lower.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plan_code.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::Candidate;
using testing::FindCandidates;
using testing::GraphOf;

// A tensor seen as [outer][size][inner], and what is done along the middle axis.
struct Problem {
  std::string op;
  int outer = 1, size = 1, inner = 1;
  size_t axis = 1;   // 0: there is no outer axis; 2: no inner one
  int other = 1;     // concat: the other tensor's size
  int a = 0, b = 0;  // slice: from and to; else before and after
  int step = 1, taps = 1, dilation = 1;

  int out() const {
    if (op == "slice") return (b - a + step - 1) / step;
    if (op == "concat") return size + other;
    return (size + a + b - (taps - 1) * dilation - 1) / step + 1;
  }
  bool Fits() const {
    return op == "slice" ? a < b && b <= size : op == "concat" || (taps - 1) * dilation < size + a + b;
  }
  std::string Type(int along) const {
    std::string dims = Cat(along);
    if (axis > 0) dims = Cat(outer, ",", dims);
    if (axis < 2) dims += Cat(",", inner);
    return Cat("f32[", dims, "]");
  }
  std::string Text() const {
    const size_t place = axis == 0 ? 0 : 1;
    const std::string rest = op == "concat"  ? Cat("axis=", place)
                             : op == "slice" ? Cat("axis=", place, ", from=", a, ", to=", b, ", step=", step)
                             : op == "pad" ? Cat("axis=", place, ", before=", a, ", after=", b, ", value=-7")
                                           : Cat("axis=", place, ", size=", taps, ", stride=", step,
                                                 ", dilation=", dilation, ", before=", a, ", after=", b);
    const bool two = op == "concat";
    return Cat("kernel a(x: ", Type(size), two ? Cat(", y: ", Type(other)) : "", "):\n return ", op, "(x, ",
               two ? "y, " : "", rest, ")");
  }
};

// By the definition: element by element.
std::vector<double> Expected(const Problem& p, const std::vector<std::vector<float>>& inputs) {
  std::vector<double> out;
  const int outer = p.axis == 0 ? 1 : p.outer, inner = p.axis == 2 ? 1 : p.inner;
  for (int o = 0; o < outer; ++o)
    for (int to = 0; to < p.out(); ++to)
      for (int i = 0; i < inner; ++i) {
        const auto at = [&](size_t input, int size, int index) {
          return double{inputs[input][static_cast<size_t>((o * size + index) * inner + i)]};
        };
        if (p.op == "slice") {
          out.push_back(at(0, p.size, p.a + to * p.step));
        } else if (p.op == "concat") {
          out.push_back(to < p.size ? at(0, p.size, to) : at(1, p.other, to - p.size));
        } else if (p.op == "pad") {
          out.push_back(to < p.a || to >= p.a + p.size ? -7 : at(0, p.size, to - p.a));
        } else {
          double sum = 0, most = -std::numeric_limits<double>::infinity();
          for (int tap = 0; tap < p.taps; ++tap) {
            const int index = to * p.step - p.a + tap * p.dilation;
            if (index < 0 || index >= p.size) continue;
            sum += at(0, p.size, index);
            most = std::max(most, at(0, p.size, index));
          }
          out.push_back(p.op == "window_sum" ? sum : most);
        }
      }
  return out;
}

void ExpectReference(const Problem& problem) {
  const Graph graph = GraphOf(problem.Text());
  ASSERT_FALSE(graph.nodes.empty());
  const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 32);
  std::vector<const void*> pointers;
  for (const std::vector<float>& input : inputs) pointers.push_back(input.data());
  const std::vector<double> expected = Expected(problem, inputs);
  const TensorType& type = graph.TypeOf(graph.results.front());
  ASSERT_EQ(type.elements(), static_cast<int64_t>(expected.size())) << problem.Text();
  GraphReference reference(graph, pointers);
  size_t at = 0;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (const Uncertain& want : reference.ResultRow(graph.results.front(), row))
      ASSERT_EQ(want.value, expected[at++]) << problem.Text() << " row " << row;
}

// Every problem with an axis of up to 5, in turn with other axes before it, behind it, or both.
template <typename Use>
void ForEachSmall(const Use& use) {
  size_t number = 0;
  Problem p;
  const auto each = [&] {
    if (!p.Fits() || ::testing::Test::HasFailure()) return;
    p.axis = number % 3;
    p.outer = 1 + static_cast<int>(number / 3 % 3);
    p.inner = number % 5 == 0 ? 1 : 1 + static_cast<int>(number % 7) * 3;
    use(p, number++);
  };
  for (p.size = 1; p.size <= 5; ++p.size) {
    p.op = "concat";
    for (p.other = 1; p.other <= 4; ++p.other) each();
    p.op = "slice";
    for (p.a = 0; p.a < p.size; ++p.a)
      for (p.b = p.a + 1; p.b <= p.size; ++p.b)
        for (p.step = 1; p.step <= 4; ++p.step) each();
    p.step = 1;
    p.op = "pad";
    for (p.a = 0; p.a <= 2; ++p.a)
      for (p.b = 0; p.b <= 2; ++p.b) each();
    for (const char* op : {"window_max", "window_sum"})
      for (p.a = 0; p.a <= 4; ++p.a)
        for (p.b = 0; p.b <= 4; p.b += 2)
          for (p.taps = 1; p.taps <= 4; ++p.taps)
            for (p.dilation = 1; p.dilation <= 2; ++p.dilation)
              for (p.step = 1; p.step <= 3; ++p.step) {
                p.op = op;
                each();
              }
    p.step = p.taps = p.dilation = 1;
  }
}

Problem RandomProblem(std::mt19937& random) {
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<uint32_t>(below)); };
  static constexpr const char* kOps[] = {"slice", "concat", "pad", "window_max", "window_sum"};
  while (true) {
    Problem p;
    p.op = kOps[draw(5)];
    p.axis = static_cast<size_t>(draw(3));
    p.outer = 1 + draw(40);
    p.size = 1 + draw(70);
    p.inner = 1 + draw(draw(2) == 0 ? 4 : 70);
    p.other = 1 + draw(70);
    const bool slice = p.op == "slice", window = p.op.starts_with("window");
    p.a = slice ? draw(p.size) : draw(6);
    p.b = slice ? p.a + 1 + draw(p.size - p.a) : draw(6);
    if (slice || window) p.step = 1 + draw(3);
    if (window) p.taps = 1 + draw(9);
    if (window) p.dilation = 1 + draw(2);
    if (p.Fits()) return p;
  }
}

TEST(AlongAxisTest, TheReferenceIsTheDefinition) {
  size_t problems = 0;
  ForEachSmall([&](const Problem& problem, size_t) {
    ExpectReference(problem);
    ++problems;
  });
  EXPECT_GT(problems, 2000u);
  std::mt19937 random(1);
  for (int round = 0; round < 100 && !HasFailure(); ++round) ExpectReference(RandomProblem(random));
}

class AlongAxisOnTest : public testing::OnTargetTest {
 protected:
  void ExpectRight(const Problem& problem) const {
    const Graph graph = GraphOf(problem.Text());
    const std::vector<std::vector<float>> inputs = testing::SmallIntegers(graph, 32);
    const std::vector<double> expected = Expected(problem, inputs);
    const Plan plan = testing::PlanBy(graph, {"axis"}, target_);
    EXPECT_EQ(Lower(plan, target_, "kernel").scratch_bytes, 0);
    const std::vector<float> values = testing::RunPlan(plan, target_, inputs);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(double{values[i]}, expected[i]) << problem.Text() << " element " << i << "\n"
                                                << PrintPlan(plan);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, AlongAxisOnTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// KIRSCH_ALL_SHAPES in the environment: all of them.
TEST_P(AlongAxisOnTest, MachineCodeIsTheDefinition) {
  const size_t every = std::getenv("KIRSCH_ALL_SHAPES") != nullptr ? 1 : 29;
  ForEachSmall([&](const Problem& problem, size_t number) {
    if (number % every == 0) ExpectRight(problem);
  });
  std::mt19937 random(2);
  for (int round = 0; round < 60 && !HasFailure(); ++round) ExpectRight(RandomProblem(random));
}

TEST_P(AlongAxisOnTest, PlansAreRight) {
  std::mt19937 random(3);
  for (int round = 0; round < testing::Rounds(20) && !HasFailure(); ++round)
    testing::VerifiedPlan(RandomProblem(random).Text(), testing::WithFreeThreads(target_), 1 + round % 2);
}

// Beside other operations, of all types, constant or with strides.
TEST_P(AlongAxisOnTest, KernelsAreRight) {
  for (const char* text :
       {// Rotary embedding of halves of rows, on a slice of a projection.
        "kernel a(x: f32[24,32], w: f32[32,96], c: f32[24,16], s: f32[24,16]):\n"
        " p = matmul(x, w)\n q = slice(p, axis=1, from=32, to=64)\n"
        " a = slice(q, axis=1, to=16)\n b = slice(q, axis=1, from=16)\n"
        " return concat(sub(mul(a, c), mul(b, s)), add(mul(b, c), mul(a, s)), axis=1)",
        // A gate, and parts that are results.
        "kernel a(x: f32[7,40]) -> (f32[7,20], f32[7,20]):\n g = slice(x, axis=1, from=20)\n"
        " h = mul(slice(x, axis=1, to=20), sigmoid(g))\n return h, g",
        "kernel a(x: f32[3,9,8], w: const f32[1,8,24]):\n"
        " return matmul(softmax(pad(x, axis=1, before=1, value=-inf)), slice(w, axis=2, from=3, step=3))",
        // Averages of windows of an image, and the largest elements of its channels'.
        "kernel a(x: f32[2,8,9,5]):\n s = window_sum(window_sum(x, axis=1, size=2, stride=2), axis=2, "
        "size=3)\n"
        " return mul(s, 0.166667)",
        "kernel a(x: f32[1,6,7,9], w: f32[8,6,3,3]):\n"
        " return window_max(window_max(relu(conv2d(x, w, pad=1)), axis=3, size=3, stride=2, before=1, "
        "after=1), "
        "axis=2, size=2)",
        "kernel a(x: bf16[5,6], y: bf16[5,7]):\n return concat(pad(x, axis=0, after=0), y, axis=1)",
        "kernel a(x: f16[5,6,3]):\n return window_max(pad(x, axis=1, before=2, value=0.1), axis=0, size=2)",
        "kernel a(x: u8[5,6], y: u8[9,6]):\n return concat(pad(x, axis=1, before=2, after=1, value=255), "
        "pad(y, axis=1, before=1, after=2), axis=0)",
        "kernel a(x: s8[5,40]):\n return window_sum(x, axis=1, size=4, stride=3, after=2)",
        "kernel a(x: s32[5,40]):\n return window_max(pad(x, axis=0, before=1, value=16777217), axis=0, "
        "size=2, "
        "stride=5, before=3, after=6)",
        "kernel a(x: f64[5,9], y: f64[2,9]):\n return window_sum(concat(x, y, axis=0), axis=1, size=3, "
        "stride=2)",
        // As they lie, and in an order that takes a copy.
        "kernel a(x: f32[4,8,16] strides=[16,100,1]) -> f32[4,3,16] strides=[64,20,1]:\n"
        " return slice(x, axis=1, from=1, step=3)",
        "kernel a(x: f32[4,8,2,16] strides=[16,200,64,1]) -> f32[4,9,2,16] strides=[16,128,64,1]:\n"
        " return pad(x, axis=1, after=1)",
        "kernel a(x: const f32[4,6], y: f32[4,2]):\n return concat(slice(x, axis=1, from=2), y, axis=1)",
        "kernel a(x: f32[4,6]):\n return concat(x, x, axis=0)"})
    for (int threads : {1, 2}) testing::VerifiedPlan(text, testing::WithFreeThreads(target_), threads);
}

// Operations by rows read slices where they lie: a gate is one row program, without copies.
TEST_P(AlongAxisOnTest, SlicesAreReadWhereTheyLie) {
  const Plan plan = testing::VerifiedPlan(
      "kernel a(x: f32[64,96]):\n return mul(sigmoid(slice(x, axis=1, to=48)), slice(x, axis=1, from=48))",
      target_);
  ASSERT_EQ(plan.nests.size(), 1u) << PrintPlan(plan);
  EXPECT_TRUE(plan.buffers.empty()) << PrintPlan(plan);
  for (const char* text :
       {"kernel a(x: f32[3,40,24], y: f32[3,9,8]):\n"
        " return softmax(add(slice(slice(x, axis=1, from=2, to=38, step=4), axis=2, from=5, to=13), y))",
        "kernel a(x: u8[9,40], s: f32[]):\n return mul(cast(slice(x, axis=1, from=7), f32), s)",
        "kernel a(x: f32[9,40], w: f32[40,20]):\n p = matmul(x, w)\n"
        " return add(slice(p, axis=1, to=10), reduce_max(slice(p, axis=0, from=2, to=3), axis=1))",
        "kernel a(x: f32[9,40]) -> (f32[9,20], f32[9,1]):\n s = slice(x, axis=1, to=20)\n"
        " m = reduce_sum(s, axis=1)\n return s, m",
        "kernel a(x: f32[6,8,10], y: f32[3]):\n return layernorm(slice(x, axis=2, from=4, to=7), y, y)",
        "kernel a(x: f32[6,8,10]):\n return reduce_sum(exp(slice(x, axis=1, from=1, step=3)), axis=1)"})
    for (int threads : {1, 2}) testing::VerifiedPlan(text, testing::WithFreeThreads(target_), threads);
}

std::string ErrorOf(const std::string& statement) {
  const std::string text =
      Cat("kernel a(x: f32[4,9], y: f32[4,2], z: bf16[4,9], i: u8[4,9]):\n return ", statement);
  return std::string(ParseGraph(Split({text, {}}, '\n'), "spec").status().message());
}

TEST(AlongAxisTest, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"slice(x)", "spec:1:71: expected an axis (axis=0), got f32[4,9]"},
      {"slice(x, axis=2)", "spec:1:71: expected an axis below 2, got f32[4,9]"},
      {"slice(x, axis=0, axis=1)", "spec:1:88: expected each option once, got 'axis'"},
      {"slice(x, axis=1, from=3, to=3)",
       "spec:1:71: expected from= below to=, and to= of at most 9, the axis's size, got f32[4,9]"},
      {"slice(x, axis=1, to=10)",
       "spec:1:71: expected from= below to=, and to= of at most 9, the axis's size, got f32[4,9]"},
      {"slice(x, axis=1, step=0)", "spec:1:93: expected step= from 1 to 1048576, got '0'"},
      {"concat(x, y, axis=0)",
       "spec:1:71: expected tensors of one type that differ along axis 0 only, got f32[4,9] and f32[4,2]"},
      {"concat(x, z, axis=1)",
       "spec:1:71: expected tensors of one type that differ along axis 1 only, got f32[4,9] and bf16[4,9]"},
      {"concat(x, 1, axis=1)",
       "spec:1:71: expected tensors of one type that differ along axis 1 only, got f32[4,9] and 1"},
      {"pad(i, axis=0, value=256)", "spec:1:71: expected a value= of u8, got u8[4,9]"},
      {"pad(i, axis=0, value=0.5)", "spec:1:71: expected a value= of u8, got u8[4,9]"},
      {"pad(x, axis=0, before=1048576)",
       "spec:1:71: expected a result of at most 1048576 indices along axis 0, got f32[4,9]"},
      {"window_max(x, axis=1, size=10)",
       "spec:1:71: expected a window that fits the padded axis, got f32[4,9]"},
      {"window_max(x, axis=1, size=129)", "spec:1:98: expected size= from 1 to 128, got '129'"},
      {"window_sum(1, axis=0)", "spec:1:71: expected a tensor with an axis, got 1"},
      {"slice(x, axes=1)",
       "spec:1:80: expected an option (axis from to step), got 'axes'; did you mean 'axis'?"},
  };
  for (const auto& [statement, error] : cases) EXPECT_EQ(ErrorOf(statement), error) << statement;
}

TEST(AlongAxisTest, TextsReturn) {
  const std::string text = PrintGraph(GraphOf(
      "kernel a(x: f32[4,9], y: u8[4,9]):\n a = window_sum(pad(slice(x, axis=1, to=8), axis=1, after=1, "
      "value=-inf), axis=1, size=3)\n b = pad(y, axis=0, before=1, value=3)\n return a, b"));
  EXPECT_THAT(text, ::testing::HasSubstr(" = slice(x, axis=1, from=0, to=8, step=1)\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(", axis=1, before=0, after=1, value=-inf)\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(", axis=1, size=3, stride=1, dilation=1, before=0, after=0)\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(" = pad(y, axis=0, before=1, after=0, value=3)\n"));
  EXPECT_EQ(PrintGraph(GraphOf(text.substr(0, text.size() - 1))), text);
}

}  // namespace
}  // namespace kirsch
