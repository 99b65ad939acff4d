// SPDX-License-Identifier: Apache-2.0
// How far kernels are off on inputs that are hard: norms of rows far from zero or close to what f32 holds,
// the tails of activation functions, casts of what no integer holds. Expected values are computed in double,
// from the definitions alone, and errors held to the bounds that docs/exactness.md states.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/jit.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

constexpr double kUnit = 0x1p-24;

using Vector = std::vector<float>;

class AccuracyTest : public PlanTest {
 protected:
  // The kernel's result for its parameters, all of f32.
  template <typename Element = float>
  std::vector<Element> Run(const std::string& text, std::vector<Vector> inputs, bool check = true) {
    const Graph graph = GraphOf(text);
    const auto found = PlanOf(graph, target_, 1);
    EXPECT_TRUE(found.ok()) << found.status();
    const LoopProgram program = Lower(found->plan, target_, "kernel");
    const auto jit = JitCompile(program, target_);
    EXPECT_TRUE(jit.ok()) << jit.status();
    std::vector<void*> tensors;
    for (Vector& input : inputs) tensors.push_back(input.data());
    std::vector<Element> result(static_cast<size_t>(graph.TypeOf(graph.results.front()).elements()));
    tensors.push_back(result.data());
    std::vector<char> scratch(static_cast<size_t>(program.scratch_bytes) + 64);
    char* const line = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    (*jit)->Caller()({tensors, line});
    if (check) CheckReference(graph, tensors, result);
    return result;
  }

 private:
  // The verifier would let it pass, and nothing that is far off.
  template <typename Element>
  void CheckReference(const Graph& graph, const std::vector<void*>& tensors,
                      const std::vector<Element>& result) {
    GraphReference reference(graph, {tensors.begin(), tensors.end() - 1});
    const int64_t length = GraphReference::RowLength(graph.TypeOf(graph.results.front()));
    for (size_t i = 0; i < result.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / length, column = static_cast<int64_t>(i) % length;
      const Uncertain want = reference.ResultRow(graph.results.front(), row)[static_cast<size_t>(column)];
      EXPECT_LE(std::abs(static_cast<double>(result[i]) - want.value), want.error) << "element " << i;
      EXPECT_TRUE(std::isfinite(want.error)) << "anything goes for element " << i;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, AccuracyTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return std::string(info.index == 0 ? "Avx2" : "Avx512"); });

// Rows around `offset` that vary by `spread`.
Vector RowOf(size_t length, double offset, double spread, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  Vector row;
  for (size_t i = 0; i < length; ++i) row.push_back(static_cast<float>(offset + spread * real(random)));
  return row;
}

// (x - mean) / sqrt(mean of (x - mean)^2 + eps), or without the mean.
std::vector<double> NormOf(const Vector& x, bool centred, double eps = 1e-5) {
  const auto n = static_cast<double>(x.size());
  const double first = centred ? x.front() : 0;  // so that rows which don't vary have exact means
  double mean = 0, squares = 0;
  for (float e : x) mean += centred ? (e - first) / n : 0;
  std::vector<double> norm;
  for (float e : x) norm.push_back(e - first - mean);
  for (double e : norm) squares += e * e / n;
  for (double& e : norm) e /= std::sqrt(squares + eps);
  return norm;
}

struct Row {
  double offset, spread;
};
constexpr Row kRows[] = {{0, 1},       {1e6 + 0.3, 0}, {1e6, 1},      {-1e6, 0.1},  {1e19, 1e18}, {0, 1e19},
                         {3e37, 1e36}, {-3e37, 0},     {0, 3.4e38},   {3e38, 1e37}, {0, 1e-10},   {0, 1e-30},
                         {1e-20, 0},   {0, 0},         {1234.567, 0}, {1, 1e-6}};

TEST_P(AccuracyTest, NormsKeepTheirBounds) {
  for (size_t length : {1, 5, 64, 1000})
    for (const Row& row : kRows)
      for (bool centred : {true, false}) {
        const Vector x = RowOf(length, row.offset, row.spread, static_cast<uint32_t>(length));
        const Vector ones(length, 1), zeros(length, 0);
        const std::string type = Cat("f32[", length, "]");
        const std::string text =
            centred ? Cat("kernel hard(x: f32[1,", length, "], s: ", type, ", t: ", type,
                          "):\n  return layernorm(x, s, t)")
                    : Cat("kernel hard(x: f32[1,", length, "], s: ", type, "):\n  return rmsnorm(x, s)");
        const Vector got =
            Run(text, centred ? std::vector<Vector>{x, ones, zeros} : std::vector<Vector>{x, ones});
        const std::vector<double> want = NormOf(x, centred);
        const auto n = static_cast<double>(length);
        for (size_t i = 0; i < length; ++i) {
          const double bound =
              centred ? 4 * (n + 8) * std::sqrt(n) * kUnit : (n + 16) * kUnit * std::abs(want[i]);
          EXPECT_LE(std::abs(got[i] - want[i]), bound + 0x1p-140)
              << (centred ? "layernorm" : "rmsnorm") << " of " << length << " around " << row.offset << " by "
              << row.spread << ", element " << i << ": " << got[i] << ", not " << want[i];
        }
      }
}

TEST_P(AccuracyTest, NormsOfSumsOfRows) {
  const std::string text =
      "kernel hard(x: f32[2,37], r: f32[37], s: f32[37], t: f32[37]):\n"
      "  return layernorm(add(x, r), s, t)";
  // The reference doesn't know that these sums are exact.
  const Vector result = Run(text, {Vector(74, 1e6f), Vector(37, 7), Vector(37, 1), Vector(37, 0.5f)}, false);
  for (float e : result) EXPECT_EQ(e, 0.5f);
}

TEST_P(AccuracyTest, TailsOfActivations) {
  struct Function {
    std::string name;
    std::function<double(double)> exact;
    double ulps, ulps_of_cube;  // the second, times 1 + |x|^3
  };
  const std::vector<Function> functions = {
      {"gelu", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }, 6, 0},
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }, 4, 0},
      {"gelu_tanh",
       [](double x) { return x / (1 + std::exp(-std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x))); }, 5, 1},
      {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }, 2, 0},
      {"softplus", [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); },
       2.5, 0},
      {"hardswish", [](double x) { return x < -3 ? 0 : x / 6 * std::min(x + 3, 6.0); }, 3, 0},
  };
  Vector x;
  for (int i = 0; i < 4000; ++i) x.push_back(static_cast<float>(-110 + i * 0.03));
  for (int i = 0; i < 100; ++i) x[static_cast<size_t>(3900 + i)] = std::ldexp(i % 2 == 0 ? -1.3f : 1.3f, -i);
  for (const Function& function : functions) {
    const Vector got = Run(Cat("kernel hard(x: f32[1,4000]):\n  return ", function.name, "(x)"), {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = function.exact(x[i]), magnitude = std::abs(static_cast<double>(x[i]));
      const double ulps =
          function.ulps +
          (x[i] < 0 ? function.ulps_of_cube * (magnitude + magnitude * magnitude * magnitude) : 0);
      EXPECT_LE(std::abs(got[i] - want), ulps * (2 * kUnit * std::abs(want) + 0x1p-149))
          << function.name << " of " << x[i];
    }
  }
}

// Near where they are 0, and towards the ends of f32.
TEST_P(AccuracyTest, LogarithmsAndWhatExpIsBeyondOne) {
  struct Function {
    std::string name;
    double (*exact)(double);
    double ulps;
    double centre, least, most;  // arguments: on both sides of the centre, between the others
  };
  const std::vector<Function> functions = {
      {"log", std::log, 1, 1, 0x1p-149, 0x1p127},
      {"log", std::log, 1, 0, 0x1p-149, 0x1p127},
      {"log1p", std::log1p, 1, 0, -0.99999, 0x1p127},
      {"expm1", std::expm1, 2, 0, -100, 88},
  };
  for (const Function& function : functions) {
    Vector x;
    for (int i = 0; i < 4000; ++i) {
      const double by = std::ldexp(1 + i / 4096.0, i % 250 - 125);
      const auto at = static_cast<float>(function.centre + (i / 250 % 2 == 0 ? by : -by));
      x.push_back(
          std::min(std::max(at, static_cast<float>(function.least)), static_cast<float>(function.most)));
    }
    const Vector got = Run(Cat("kernel hard(x: f32[1,4000]):\n  return ", function.name, "(x)"), {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = function.exact(x[i]);
      EXPECT_LE(std::abs(got[i] - want), function.ulps * (2 * kUnit * std::abs(want) + 0x1p-149))
          << function.name << " of " << x[i];
    }
  }
}

// Around multiples of pi / 2, where one of them is near 0.
TEST_P(AccuracyTest, SinesNearTheirZeros) {
  Vector x;
  for (int i = 0; i < 4000; ++i) {
    const double multiple = i % 4 == 0 ? i / 4 : i * 166.0;
    x.push_back(static_cast<float>((i % 3 - 1) * (multiple * M_PI_2 + std::ldexp(i % 7, -i % 23))));
  }
  for (const auto& [name, exact] : {std::pair<std::string, double (*)(double)>("sin", std::sin),
                                    std::pair<std::string, double (*)(double)>("cos", std::cos)}) {
    const Vector got = Run(Cat("kernel hard(x: f32[1,4000]):\n  return ", name, "(x)"), {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = exact(x[i]);
      EXPECT_LE(std::abs(got[i] - want), 2.5 * (2 * kUnit * std::abs(want) + 0x1p-149))
          << name << " of " << x[i];
    }
  }
}

// Powers of all magnitudes, more of them of numbers near 1, whose exponents are large.
TEST_P(AccuracyTest, PowersOfPositiveNumbers) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> real(-1, 1);
  Vector x, y;
  for (int i = 0; i < 4000; ++i) {
    const double logarithm = real(random) * std::ldexp(87, -(i % 24));
    x.push_back(static_cast<float>(std::exp(logarithm)));
    const double product = real(random) * 87;
    y.push_back(x.back() == 1 ? 3 : static_cast<float>(product / std::log(static_cast<double>(x.back()))));
  }
  const Vector got = Run("kernel hard(x: f32[1,4000], y: f32[1,4000]):\n  return pow(x, y)", {x, y});
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    EXPECT_LE(std::abs(got[i] - want), 4 * (2 * kUnit * std::abs(want) + 0x1p-149)) << x[i] << "^" << y[i];
  }
}

TEST_P(AccuracyTest, CastsSaturate) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vector x = {kInfinity, -kInfinity, 0x1p31f, -0x1p31f, 2147483520.0f, -2147483648.0f, 3e38f, -3e38f,
                    0x1p32f,   0.5f,       1.5f,    -2.5f,    255.5f,        -129,           32768, -32769,
                    300,       1e9f,       -1e9f,   0};
  const auto check = [&]<typename Element>(Element, const std::string& type) {
    const auto got = Run<Element>(Cat("kernel hard(x: f32[1,20]):\n  return cast(x, ", type, ")"), {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const double least = std::numeric_limits<Element>::min(), most = std::numeric_limits<Element>::max();
      EXPECT_EQ(got[i], std::min(std::max(std::nearbyint(static_cast<double>(x[i])), least), most))
          << type << " of " << x[i];
    }
  };
  check(int32_t{}, "s32");
  check(int16_t{}, "s16");
  check(int8_t{}, "s8");
  check(uint8_t{}, "u8");
}

}  // namespace
}  // namespace kirsch::testing
