// SPDX-License-Identifier: Apache-2.0
// Permutations, reshapes, broadcasts, elements at given indices, running sums, and places of the largest: the
// reference and machine code against loops over all elements; chains of copies; and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plan_code.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::GraphOf;

using Dims = std::vector<int64_t>;

int64_t ElementsOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Dims PlaceOf(int64_t element, const Dims& dims) {
  Dims index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; element /= dims[axis]) index[axis] = element % dims[axis];
  return index;
}

int64_t ElementAt(const Dims& index, const Dims& dims) {
  int64_t element = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) element = element * dims[axis] + index[axis];
  return element;
}

// A kernel, what it is given, and what it computes.
struct Problem {
  std::string text;
  std::vector<std::vector<float>> inputs;
  std::vector<double> expected;
};

std::string TypeText(const char* type, const Dims& dims) { return Cat(type, "[", Join(dims, ","), "]"); }

// Different elements, so that each tells its place.
std::vector<float> Numbered(const Dims& dims) {
  std::vector<float> elements(static_cast<size_t>(ElementsOf(dims)));
  std::iota(elements.begin(), elements.end(), 1.0f);
  return elements;
}

Problem Permuted(const Dims& dims, const std::vector<size_t>& order) {
  Dims to;
  for (const size_t axis : order) to.push_back(dims[axis]);
  Problem problem{
      Cat("kernel a(x: ", TypeText("f32", dims), "):\n return permute(x, [", Join(order, ","), "])"),
      {Numbered(dims)},
      {}};
  for (int64_t element = 0; element < ElementsOf(to); ++element) {
    const Dims index = PlaceOf(element, to);
    Dims from(dims.size());
    for (size_t axis = 0; axis < order.size(); ++axis) from[order[axis]] = index[axis];
    problem.expected.push_back(static_cast<double>(ElementAt(from, dims) + 1));
  }
  return problem;
}

Problem Repeated(const Dims& dims, const Dims& to) {
  Problem problem{
      Cat("kernel a(x: ", TypeText("f32", dims), "):\n return broadcast(x, [", Join(to, ","), "])"),
      {Numbered(dims)},
      {}};
  for (int64_t element = 0; element < ElementsOf(to); ++element) {
    Dims index = PlaceOf(element, to);
    index.erase(index.begin(), index.end() - std::ssize(dims));
    for (size_t axis = 0; axis < dims.size(); ++axis) index[axis] %= dims[axis];
    problem.expected.push_back(static_cast<double>(ElementAt(index, dims) + 1));
  }
  return problem;
}

// An axis between `outer` and `inner`, neither of which is there if it is 0.
struct Axis {
  int64_t outer, size, inner;

  Dims With(int64_t along) const {
    Dims dims = {along};
    if (outer > 0) dims.insert(dims.begin(), outer);
    if (inner > 0) dims.push_back(inner);
    return dims;
  }
  size_t place() const { return outer > 0 ? 1 : 0; }
};

Problem Taken(const Axis& axis, int64_t count, bool own, std::mt19937& random) {
  const Dims from = axis.With(axis.size), to = axis.With(count);
  const Dims of_indices = own && axis.outer > 0 ? Dims{axis.outer, count} : Dims{count};
  std::vector<float> indices;
  std::vector<int64_t> at;
  for (int64_t i = 0; i < ElementsOf(of_indices); ++i) {
    const auto place = static_cast<int32_t>(random() % static_cast<uint32_t>(axis.size + 4)) - 2;
    indices.push_back(std::bit_cast<float>(place));
    at.push_back(std::clamp<int64_t>(place, 0, axis.size - 1));
  }
  Problem problem{Cat("kernel a(x: ", TypeText("f32", from), ", i: ", TypeText("s32", of_indices),
                      "):\n return take(x, i, axis=", axis.place(), ")"),
                  {Numbered(from), indices},
                  {}};
  for (int64_t element = 0; element < ElementsOf(to); ++element) {
    Dims index = PlaceOf(element, to);
    int64_t& along = index[axis.place()];
    along = at[static_cast<size_t>(own && axis.outer > 0 ? index[0] * count + along : along)];
    problem.expected.push_back(static_cast<double>(ElementAt(index, from) + 1));
  }
  return problem;
}

Problem SummedUp(const Axis& axis) {
  const Dims dims = axis.With(axis.size);
  Problem problem{
      Cat("kernel a(x: ", TypeText("f32", dims), "):\n return cumsum(x, axis=", axis.place(), ")"),
      {Numbered(dims)},
      {}};
  for (int64_t element = 0; element < ElementsOf(dims); ++element) {
    Dims index = PlaceOf(element, dims);
    double sum = 0;
    for (int64_t& along = index[axis.place()]; along >= 0; --along)
      sum += static_cast<double>(ElementAt(index, dims) + 1);
    problem.expected.push_back(sum);
  }
  return problem;
}

// Few values, so that some are alike; infinities, and a NaN now and then.
Problem PlaceOfMost(const Axis& axis, bool least, std::mt19937& random) {
  static constexpr float kValues[] = {-2, 0, 1, 3, 3, -2, INFINITY, -INFINITY};
  const Dims dims = axis.With(axis.size), to = axis.With(1);
  Problem problem{Cat("kernel a(x: ", TypeText("f32", dims), "):\n return cast(", least ? "argmin" : "argmax",
                      "(x, axis=", axis.place(), "), f32)"),
                  {{}},
                  {}};
  const uint32_t values = random() % 3 == 0 ? 8 : 6;
  for (int64_t i = 0; i < ElementsOf(dims); ++i)
    problem.inputs[0].push_back(random() % 40 == 0 ? NAN : kValues[random() % values]);
  for (int64_t element = 0; element < ElementsOf(to); ++element) {
    Dims index = PlaceOf(element, to);
    int64_t place = 0;
    float best = NAN;
    for (int64_t i = axis.size; i-- > 0;) {
      index[axis.place()] = i;
      const float x = problem.inputs[0][static_cast<size_t>(ElementAt(index, dims))];
      const bool better = std::isnan(x) || (!std::isnan(best) && (least ? x <= best : x >= best));
      if (i != axis.size - 1 && !better) continue;
      place = i;
      best = x;
    }
    problem.expected.push_back(static_cast<double>(place));
  }
  return problem;
}

// All permutations and repetitions of shapes with up to four axes, and everything along an axis of up to 5.
template <typename Use>
void ForEachSmall(const Use& use) {
  std::mt19937 random(7);
  const Dims sizes = {3, 2, 5, 4};
  for (size_t rank = 1; rank <= sizes.size(); ++rank)
    for (uint32_t ones = 0; ones < 1u << rank && !::testing::Test::HasFailure(); ++ones) {
      Dims dims(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rank));
      const Dims whole = dims;
      for (size_t axis = 0; axis < rank; ++axis)
        if ((ones >> axis & 1) != 0) dims[axis] = 1;
      use(Repeated(dims, whole));
      Dims wider = whole;
      wider.insert(wider.begin(), 2);
      use(Repeated(dims, wider));
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), 0u);
      do use(Permuted(dims, order));
      while (std::next_permutation(order.begin(), order.end()));
    }
  for (const int64_t outer : {0, 1, 3})
    for (const int64_t inner : {0, 1, 7, 17})
      for (int64_t size = 1; size <= 5 && !::testing::Test::HasFailure(); ++size) {
        const Axis axis{outer, size, inner};
        use(SummedUp(axis));
        for (const bool other : {false, true}) {
          for (const int64_t count : {1, 4}) use(Taken(axis, count, other, random));
          use(PlaceOfMost(axis, other, random));
        }
      }
}

Problem Drawn(std::mt19937& random) {
  const auto draw = [&](int64_t below) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(below));
  };
  Axis axis{draw(20), 1 + draw(60), draw(40)};
  switch (draw(5)) {
    case 0:
      return Taken(axis, 1 + draw(30), draw(2) == 0, random);
    case 1:
      return SummedUp({draw(9), 1 + draw(20), draw(20)});  // no sum is beyond 2^24
    case 2:
      return PlaceOfMost(axis, draw(2) == 0, random);
    default: {
      Dims dims;
      for (int64_t rank = 2 + draw(6); std::ssize(dims) < rank;) dims.push_back(1 + draw(rank > 4 ? 4 : 14));
      std::vector<size_t> order(dims.size());
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), random);
      return Permuted(dims, order);
    }
  }
}

void ExpectReference(const Problem& problem) {
  const Graph graph = GraphOf(problem.text);
  ASSERT_FALSE(graph.nodes.empty());
  std::vector<const void*> pointers;
  for (const std::vector<float>& input : problem.inputs) pointers.push_back(input.data());
  const TensorType& type = graph.TypeOf(graph.results.front());
  ASSERT_EQ(type.elements(), std::ssize(problem.expected)) << problem.text;
  GraphReference reference(graph, pointers);
  size_t at = 0;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (const Uncertain& want : reference.ResultRow(graph.results.front(), row))
      ASSERT_EQ(want.value, problem.expected[at++]) << problem.text << " row " << row;
}

TEST(CopiesTest, TheReferenceIsTheDefinition) {
  size_t problems = 0;
  ForEachSmall([&](const Problem& problem) {
    ExpectReference(problem);
    ++problems;
  });
  EXPECT_GT(problems, 800u);
  std::mt19937 random(1);
  for (int round = 0; round < 100 && !HasFailure(); ++round) ExpectReference(Drawn(random));
}

class CopiesOnTest : public testing::OnTargetTest {
 protected:
  void ExpectRight(const Problem& problem) const {
    const auto plan = testing::PlanOf(GraphOf(problem.text), target_, 1);
    ASSERT_TRUE(plan.ok()) << plan.status() << problem.text;
    const std::vector<float> values = testing::RunPlan(plan->plan, target_, problem.inputs);
    ASSERT_EQ(values.size(), problem.expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(double{values[i]}, problem.expected[i]) << problem.text << " element " << i << "\n"
                                                        << PrintPlan(plan->plan);
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, CopiesOnTest, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

TEST_P(CopiesOnTest, MachineCodeIsTheDefinition) {
  size_t number = 0;
  ForEachSmall([&](const Problem& problem) {
    if (number++ % 11 == 0) ExpectRight(problem);
  });
  std::mt19937 random(2);
  for (int round = 0; round < 60 && !HasFailure(); ++round) ExpectRight(Drawn(random));
}

// Of all types, with strides, beside other operations, constant, by several threads.
TEST_P(CopiesOnTest, KernelsAreRight) {
  for (const char* text :
       {// Pixels of an upsampled image; windows of another, and back.
        "kernel a(x: f32[5,6,16], w: f32[16,16]):\n y = reshape(matmul(x, broadcast(w, [5,16,16])), "
        "[5,6,2,2,4])\n"
        " return reshape(permute(y, [0,2,1,3,4]), [10,12,4])",
        "kernel a(x: f32[1,8,8,16]):\n w = permute(reshape(x, [2,4,2,4,16]), [0,2,1,3,4])\n"
        " y = permute(reshape(mul(reshape(w, [4,16,16]), 2), [2,2,4,4,16]), [0,2,1,3,4])\n"
        " return add(x, reshape(y, [1,8,8,16]))",
        "kernel a(x: f32[4,2,2,5,6]):\n return reshape(permute(x, [0,3,1,4,2]), [4,10,12])",
        // A cache in another order than its reader's.
        "kernel a(q: f32[4,3,16], k: f32[20,4,16], n: f32[2,4,16]):\n"
        " k1 = permute(concat(k, n, axis=0), [1,0,2])\n return matmul(q, transpose(k1))",
        "kernel a(x: f32[3,4,5,6] strides=[24,6,72,1]) -> f32[6,3,4,5] strides=[100,20,5,1]:\n"
        " return permute(x, [3,0,1,2])",
        "kernel a(x: f32[3,4,6] strides=[30,7,1]):\n return reshape(x, [2,6,6])",
        "kernel a(x: bf16[3,4,5]):\n return permute(x, [2,1,0])",
        "kernel a(x: f16[7,1]):\n return broadcast(x, [7,40])",
        "kernel a(x: s32[7,1]):\n return broadcast(x, [3,7,20])",
        "kernel a(x: u8[4,6,5]):\n return reshape(permute(x, [1,2,0]), [10,12])",
        "kernel a(x: f64[3,1,5]):\n return permute(broadcast(x, [3,4,5]), [2,1,0])",
        "kernel a(x: f64[3,1]):\n return broadcast(x, [3,40])",
        "kernel a(x: const f32[3,4,5], y: f32[5,4,3]):\n return add(permute(x, [2,1,0]), y)",
        "kernel a(x: f32[3,4,5]):\n return softmax(permute(x, [0,2,1]))",
        // Norms of groups of channels: statistics are repeated along axes that are not neighbours.
        "kernel a(x: f32[2,36,4,8], s: f32[4,8]):\n m = reduce_mean(x, axis=1, axis=3)\n d = sub(x, m)\n"
        " v = reduce_mean(mul(d, d), axis=1, axis=3)\n return mul(mul(d, rsqrt(add(v, 1e-5))), s)",
        "kernel a(x: f32[2,3,4,5], y: bf16[2,1,4,1], z: f32[1,3,1,5]):\n return mul(add(x, y), z)",
        // Tables, gates, positions.
        "kernel a(i: s32[24], t: f32[100,32], s: f32[32], p: f32[24,32]):\n"
        " return rmsnorm(add(take(t, i, axis=0), p), s)",
        "kernel a(x: bf16[3,9,8], i: s32[3,2]):\n return take(x, i, axis=1)",
        "kernel a(x: u8[3,9], i: s32[3,2]):\n return take(x, i, axis=1)",
        "kernel a(x: s32[3,9], i: s32[5]):\n return take(x, sub(i, 2), axis=1)",
        "kernel a(x: f64[3,9], i: s32[5]):\n return take(x, i, axis=0)",
        "kernel a(x: f32[8,32], w: f32[32,4], e: f32[4,7]):\n g = softmax(matmul(x, w))\n"
        " top = argmax(g, axis=1)\n y = mul(take(e, reshape(top, [8]), axis=0), reduce_max(g, axis=1))\n"
        " return y, top",
        "kernel a(x: f16[8,3,5]):\n return argmin(x, axis=0)",
        "kernel a(x: f32[8,3,5]):\n return mul(argmax(x, axis=1), 3)",
        "kernel a(x: u8[3,20]):\n return mul(cumsum(x, axis=1), x)",
        "kernel a(x: bf16[30,8], y: f32[30,8]):\n return div(cumsum(mul(x, y), axis=0), add(cumsum(abs(x), "
        "axis=0), 1))",
        "kernel a(x: f64[3,4,5]):\n return cumsum(x, axis=1)"})
    for (int threads : {1, 2}) testing::VerifiedPlan(text, testing::WithFreeThreads(target_), threads);
}

// A chain of copies is one, and what is between has no memory.
TEST_P(CopiesOnTest, ChainsAreOneCopy) {
  for (const char* text : {"kernel a(x: f32[64,64,64]):\n return reshape(permute(reshape(x, [64,64,2,2,16]), "
                           "[0,2,1,3,4]), [128,128,16])",
                           "kernel a(x: f32[32,1,64]):\n return reshape(broadcast(x, [32,4,64]), [128,64])",
                           "kernel a(x: f32[64,32,16]):\n return permute(permute(x, [1,0,2]), [1,2,0])"}) {
    const Plan plan = testing::VerifiedPlan(text, target_);
    EXPECT_EQ(plan.groups.size(), 1u) << PrintPlan(plan);
    EXPECT_TRUE(plan.buffers.empty()) << PrintPlan(plan);
  }
}

// Permutations that exchange the last two axes are transposes, which matmuls read as they lie.
TEST_P(CopiesOnTest, MatmulsReadExchangedAxes) {
  const Plan plan = testing::VerifiedPlan(
      "kernel a(x: f32[3,40,24], y: f32[3,50,24]):\n return softmax(matmul(x, permute(y, [0,2,1])))",
      target_);
  EXPECT_EQ(plan.groups.size(), 1u) << PrintPlan(plan);
}

std::string ErrorOf(const std::string& statement) {
  const std::string text =
      Cat("kernel a(x: f32[4,9], y: f32[4,1], i: s32[3], j: s32[5,3]):\n return ", statement);
  return std::string(ParseGraph(Split({text, {}}, '\n'), "spec").status().message());
}

TEST(CopiesTest, SaysWhatIsWrongAndWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"permute(x)", "spec:1:78: expected ',', got ')'"},
      {"permute(x, 1)", "spec:1:80: expected '[', got '1'"},
      {"permute(x, [0])", "spec:1:69: expected each axis of the tensor once, got f32[4,9]"},
      {"permute(x, [0,0])", "spec:1:69: expected each axis of the tensor once, got f32[4,9]"},
      {"permute(x, [0,2])", "spec:1:69: expected each axis of the tensor once, got f32[4,9]"},
      {"permute(x, [0,8])", "spec:1:83: expected an axis from 0 to 7, got '8'"},
      {"permute(x, [0,1,2,3,4,5,6,7,0])", "spec:1:97: expected at most 8 axes, got '0'"},
      {"reshape(x, [5,7])", "spec:1:69: expected a tensor of 35 elements, got f32[4,9]"},
      {"reshape(x, [36", "spec:1:83: expected ',', got nothing"},
      {"reshape(x, [0,36])", "spec:1:81: expected a size from 1 to 1048576, got '0'"},
      {"reshape(1, [1])", "spec:1:69: expected a tensor, got 1"},
      {"broadcast(x, [2,4])", "spec:1:69: expected a tensor that is repeated to this shape, got f32[4,9]"},
      {"broadcast(y, [1048576,4,1048576])", "spec:1:93: expected at most 4294967296 elements, got '1048576'"},
      {"take(x, y, axis=0)", "spec:1:69: expected s32 indices, in one axis, got f32[4,9] and f32[4,1]"},
      {"take(x, j, axis=1)",
       "spec:1:69: expected s32 indices, in one axis or behind the first 1 of the tensor, got f32[4,9] and "
       "s32[5,3]"},
      {"take(x, i)", "spec:1:69: expected an axis (axis=0), got f32[4,9] and s32[3]"},
      {"cumsum(x, axis=2)", "spec:1:69: expected an axis below 2, got f32[4,9]"},
      {"argmax(x, axis=0, axis=1)", "spec:1:69: expected one axis, got f32[4,9]"},
      {"argmax(i, axis=0)", "spec:1:69: expected floats, got s32[3]"},
  };
  for (const auto& [statement, error] : cases) EXPECT_EQ(ErrorOf(statement), error) << statement;
}

TEST(CopiesTest, TextsReturn) {
  const std::string text = PrintGraph(
      GraphOf("kernel a(x: f32[4,9], i: s32[3]):\n a = take(reshape(permute(x, [1,0]), [3,12]), i, axis=1)\n"
              " b = argmin(cumsum(broadcast(a, [2,3,3]), axis=2), axis=0)\n return a, b"));
  EXPECT_THAT(text, ::testing::HasSubstr(" = permute(x, [1,0])\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(", [3,12])\n"));
  EXPECT_THAT(text, ::testing::HasSubstr(", i, axis=1)\n"));
  EXPECT_EQ(PrintGraph(GraphOf(text.substr(0, text.size() - 1))), text);
}

}  // namespace
}  // namespace kirsch
