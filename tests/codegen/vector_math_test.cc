// SPDX-License-Identifier: Apache-2.0
// The errors of functions against the C library's in double, for inputs of all magnitudes
// and around special ones. With KIRSCH_ALL_FLOATS set, for all 2^32 (minutes a function).
#include "codegen/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "spec/element.h"
#include "spec/text/cat.h"
#include "spec/uncertain.h"
#include "tests/testing/codegen_testing.h"
#include "tests/testing/ulp_bounds.h"

namespace kirsch::testing {
namespace {

struct Function {
  Operation op;
  std::function<double(double)> exact;
  bool not_positive = false;  // arguments are
  float option = 0;
};

double Sigmoid(double x) { return x < -700 ? 0 : 1 / (1 + std::exp(-x)); }

double TimesSigmoid(double x, double u) { return u < -700 ? -0.0 : x / (1 + std::exp(-u)); }

// A tie is halfway between two, and the even one is the nearer by this remainder.
double NearestInteger(double x) { return std::isinf(x) ? x : std::copysign(x - std::remainder(x, 1), x); }

const std::vector<Function> kDefined = {
    {Operation::kExp, [](double x) { return std::exp(x); }},
    {Operation::kExp, [](double x) { return std::exp(x); }, true},
    {Operation::kTanh, [](double x) { return std::tanh(x); }},
    {Operation::kErf, [](double x) { return std::erf(x); }},
    {Operation::kSigmoid, &Sigmoid},
    {Operation::kSilu, [](double x) { return TimesSigmoid(x, x); }},
    {Operation::kGelu, [](double x) { return x < -50 ? -0.0 : x / 2 * std::erfc(-x / std::sqrt(2.0)); }},
    {Operation::kGeluTanh,
     [](double x) { return TimesSigmoid(x, std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); }},
    {Operation::kHardswish, [](double x) { return x < -3 ? -0.0 : x / 6 * std::min(x + 3, 6.0); }},
    {Operation::kElu, [](double x) { return x > 0 ? x : std::expm1(x); }, false, 1},
    {Operation::kElu, [](double x) { return x > 0 ? x : 0.25 * std::expm1(x); }, false, 0.25f},
    {Operation::kSoftplus,
     [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }},
    {Operation::kRelu, [](double x) { return x < 0 ? 0 : x; }},
    {Operation::kLeakyRelu, [](double x) { return x > 0 ? x : 0.25 * x; }, false, 0.25f},
    {Operation::kMax, [](double x) { return x < 2 ? 2 : x; }, false, 2},
    {Operation::kMin, [](double x) { return x > -2 ? -2 : x; }, false, -2},
    {Operation::kMaxNum, [](double x) { return x > 2 ? x : 2; }, false, 2},
    {Operation::kMinNum, [](double x) { return x < -2 ? x : -2; }, false, -2},
    {Operation::kAbs, [](double x) { return std::fabs(x); }},
    {Operation::kFloor, [](double x) { return std::floor(x); }},
    {Operation::kCeil, [](double x) { return std::ceil(x); }},
    {Operation::kRound, &NearestInteger},
    {Operation::kSign, [](double x) { return x == 0 || std::isnan(x) ? x : std::copysign(1, x); }},
};

// These, and all others that are more than an instruction, by what their rows say they mean.
const std::vector<Function> kFunctions = [] {
  std::vector<Function> functions = kDefined;
  for (float y : {2.5f, 0.125f, -3.0f, 1.0f, -300.0f, 0.0f, HUGE_VALF, -HUGE_VALF, NAN})
    functions.push_back({Operation::kPow, [y](double x) { return std::pow(x, double{y}); }, false, y});
  for (const OperationInfo& info : kOperations) {
    const bool defined = std::any_of(functions.begin(), functions.end(),
                                     [&](const Function& function) { return function.op == info.op; });
    if (info.kind != OperationKind::kElementwise || !IsComposed(info.op) || defined) continue;
    const float y = info.option.usual;
    functions.push_back({info.op, [meaning = info.meaning, y](double x) { return meaning(x, y); }, false, y});
  }
  return functions;
}();

constexpr int kBlock = 4096;  // floats a call takes

LoopProgram WriteProgram(const Function& function, const Target& target, int lanes,
                         Dtype type = Dtype::kF32) {
  ProcedureBuilder builder("function");
  const VarId x = builder.PointerParameter("x", type, false);
  builder.PointerParameter("unused", type, false);
  const VarId y = builder.PointerParameter("y", type, true);
  builder.PointerParameter("scratch", Dtype::kF32, true);
  builder.IndexParameter(kThread);
  builder.IndexParameter(kThreads);
  const VarId v = builder.Vector("v", type, lanes);
  VectorMath math(builder, lanes, target.HasFeature("avx512f"), "0", type);
  const auto y_of = [&](float option) { return builder.Filled(type, lanes, WordOf(type, option)); };
  builder.Loop(Constant(kBlock / lanes), [&](VarId trip) {
    builder.Do(Load{v, {x, Plus(Constant(0), trip, lanes)}, lanes});
    function.not_positive ? math.ExpOfNotPositive(v, v)
                          : math.Compute(function.op, v, v, y_of(function.option));
    builder.Do(Store{v, {y, Plus(Constant(0), trip, lanes)}, lanes});
  });
  LoopProgram program;
  program.name = "function";
  program.tensors = {{"x", type}, {"unused", type}, {"y", type, true}};
  program.procedures.push_back(std::move(builder).Build());
  program.features = target.features;
  program.masks = target.HasFeature("avx512f");
  return program;
}

// The error in units of the distance of the f32s around the exact result; a fault is infinitely many.
double UlpError(float result, double exact) {
  constexpr double kFault = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(result) ? 0 : kFault;
  const float nearest = static_cast<float>(exact);
  if (std::isinf(result) || std::isinf(nearest) || nearest == 0) {
    if (result == nearest) return std::signbit(result) == std::signbit(nearest) ? 0 : kFault;
    // Beyond the last float, one more would be infinity.
    if (nearest == 0) return std::fabs(result) / 0x1p-149;
    if (!std::isinf(exact) && std::fabs(exact) < 0x1.000001p128 && std::fabs(result) >= 0x1.fffffep127)
      return 1;
    return kFault;
  }
  if (std::isnan(result)) return kFault;
  int exponent;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(result - exact) / ulp;
}

// The same of f64, whose functions are exact enough in long double.
struct WideFunction {
  Operation op;
  long double (*exact)(long double);
  bool not_positive = false;
};
const std::vector<WideFunction> kWideFunctions = {
    {Operation::kExp, [](long double x) { return std::exp(x); }},
    {Operation::kExp, [](long double x) { return std::exp(x); }, true},
    {Operation::kSigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {Operation::kSilu, [](long double x) { return x < -11000 ? -0.0L : x / (1 + std::exp(-x)); }},
    {Operation::kRsqrt, [](long double x) { return 1 / std::sqrt(x); }},
    {Operation::kHardswish, [](long double x) { return x < -3 ? -0.0L : x / 6 * std::min(x + 3, 6.0L); }},
};

double WideUlpError(double result, long double exact) {
  constexpr double kFault = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(result) ? 0 : kFault;
  const auto nearest = static_cast<double>(exact);
  if (std::isnan(result)) return kFault;
  if (std::isinf(result) || std::isinf(nearest) || nearest == 0) {
    if (result == nearest) return std::signbit(result) == std::signbit(nearest) ? 0 : kFault;
    if (nearest == 0) return std::fabs(result) / 0x1p-1074;
    const bool is_last = std::isfinite(exact) && std::fabs(exact) > 0x1.ffffffffffffep1023L;
    return is_last && std::fabs(result) >= 0x1.fffffffffffffp1023 ? 1 : kFault;
  }
  int exponent;
  std::frexp(exact, &exponent);
  return static_cast<double>(std::fabs(result - exact) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

// Numbers of all magnitudes, those where functions change, and those around ends of results.
std::vector<double> WideArguments() {
  std::vector<double> arguments;
  for (double special : {0.0,
                         -0.0,
                         HUGE_VAL,
                         -HUGE_VAL,
                         std::nan(""),
                         0x1p-1022,
                         -0x1p-1022,
                         1.0,
                         -1.0,
                         709.782712893384,
                         709.436,
                         710.0,
                         -708.396418532264,
                         -744.4400719213812,
                         -745.1332191019412,
                         -746.0,
                         -751.9,
                         -753.0,
                         0.34657359027997264,
                         -0.34657359027997264,
                         1.0397207708399179,
                         -0x1p-60,
                         3.0,
                         -3.0,
                         0.5,
                         -770.0})
    for (int off = -300; off < 300; ++off)  // neighbours; of zeros also NaNs and the largest
      arguments.push_back(
          std::bit_cast<double>(std::bit_cast<uint64_t>(special) + static_cast<uint64_t>(int64_t{off})));
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any(-760, 715), near(-2, 2);
  for (int i = 0; i < 200'000; ++i) {
    arguments.push_back(std::bit_cast<double>(random()));
    arguments.push_back(any(random));
    arguments.push_back(near(random));
  }
  arguments.resize((arguments.size() + kBlock - 1) / kBlock * kBlock);
  return arguments;
}

// An error of what is exact is infinitely many bounds.
double ShareOf(double error, double bound) {
  if (error == 0) return 0;
  return bound == 0 ? std::numeric_limits<double>::infinity() : error / bound;
}

class VectorMathTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!HostRuns(target_)) GTEST_SKIP() << "the host lacks the instructions";
  }

  struct Worst {
    double error = 0;  // relative to the bound
    float at = 0;
  };
  // Over x(0), x(1), ...; `kernels` of the same function.
  template <typename At>
  static Worst Largest(const Function& function, KernelFunction kernel, uint64_t count, const At& at) {
    Worst worst;
    std::vector<float> x(kBlock), y(kBlock);
    for (uint64_t first = 0; first < count; first += kBlock) {
      for (uint64_t i = 0; i < kBlock; ++i) {
        const float value = at(std::min(first + i, count - 1));
        x[i] = function.not_positive && value > 0 ? -value : value;
      }
      kernel(x.data(), nullptr, y.data(), nullptr, 0, 1);
      for (size_t i = 0; i < kBlock; ++i) {
        const double error = ShareOf(UlpError(y[i], function.exact(x[i])), UlpBound(function.op, x[i]));
        if (!(error <= worst.error)) worst = {error, x[i]};
        if (i % 16 == 0) CheckComposition(function, x[i], y[i]);
      }
    }
    return worst;
  }

  // What is found by adding up the roundings of the composition is a bound, too, and one that says something.
  static void CheckComposition(const Function& function, float x, float y) {
    const Uncertain expected = FunctionOf(function.op, {x, 0}, function.option);
    if (!std::isfinite(expected.error) || std::isnan(expected.value) || std::isinf(expected.value)) return;
    EXPECT_LE(std::abs(y - expected.value), expected.error) << Info(function.op).name << " of " << x;
    EXPECT_LE(expected.error, 3 * UlpBound(function.op, x) * (0x1p-23 * std::abs(expected.value) + 0x1p-149))
        << Info(function.op).name << " of " << x;
  }

  void Check(int lanes) {
    for (const Function& function : kFunctions) {
      const LoopProgram program = WriteProgram(function, target_, lanes);
      const auto kernel = JitCompile(program, target_);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      const auto check = [&](const Worst& worst) {
        EXPECT_LE(worst.error, 1) << Info(function.op).name << " of " << worst.at << ", "
                                  << Cat("0x", absl::Hex(std::bit_cast<uint32_t>(worst.at))) << ", lanes "
                                  << lanes;
        return worst.error;
      };
      const KernelFunction run = (*kernel)->function();
      check(Largest(function, run, kNear * kSpecial.size(), [](uint64_t i) {
        const uint32_t bits = std::bit_cast<uint32_t>(kSpecial[i / kNear]);
        return std::bit_cast<float>(bits + static_cast<uint32_t>(i % kNear - kNear / 2));
      }));
      const bool all = std::getenv("KIRSCH_ALL_FLOATS") != nullptr;
      const uint64_t stride = all ? 1 : 4099;
      const double error = check(Largest(function, run, (uint64_t{1} << 32) / stride, [=](uint64_t i) {
        return std::bit_cast<float>(static_cast<uint32_t>(i * stride));
      }));
      if (all)
        std::printf("%s%s, %d lanes of %s: %.4f of the bound\n", std::string(Info(function.op).name).c_str(),
                    function.not_positive ? " of what is not positive" : "", lanes, target_.name.c_str(),
                    error);
    }
  }

  void CheckF64(int lanes) {
    const std::vector<double> arguments = WideArguments();
    for (const WideFunction& function : kWideFunctions) {
      const LoopProgram program =
          WriteProgram({function.op, nullptr, function.not_positive}, target_, lanes, Dtype::kF64);
      const auto kernel = JitCompile(program, target_);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      double worst = 0, at = 0;
      std::vector<double> x(kBlock), y(kBlock);
      for (size_t first = 0; first < arguments.size(); first += kBlock) {
        for (size_t i = 0; i < kBlock; ++i)
          x[i] = function.not_positive && arguments[first + i] > 0 ? -arguments[first + i]
                                                                   : arguments[first + i];
        (*kernel)->function()(x.data(), nullptr, y.data(), nullptr, 0, 1);
        for (size_t i = 0; i < kBlock; ++i) {
          const double error = WideUlpError(y[i], function.exact(x[i]));
          if (!(error <= worst)) worst = error, at = x[i];
          CheckUncertain(function.op, x[i], y[i]);
        }
      }
      EXPECT_LE(worst, UlpBound(function.op))
          << Info(function.op).name << " of " << at << ", lanes " << lanes;
    }
  }
  // Verification's bound holds, too.
  static void CheckUncertain(Operation op, double x, double y) {
    const Uncertain expected = FunctionOf(op, {x, 0}, 0, Dtype::kF64);
    if (!std::isfinite(expected.error) || !std::isfinite(expected.value)) return;
    EXPECT_LE(std::abs(y - expected.value), expected.error) << Info(op).name << " of " << x;
  }

  static constexpr uint64_t kNear = 512;
  // Zeros, infinities, where results become infinite, subnormal, zero or one, and where code changes over.
  static inline const std::vector<float> kSpecial = {0x1.921fb6p+0f,
                                                     -0x1.921fb6p+1f,
                                                     0x1p-12f,
                                                     0x1p20f,
                                                     -0x1p20f,
                                                     0x1.fffffep19f,
                                                     0x1.6a09e6p-1f,
                                                     0x1.6a09e6p0f,
                                                     -0x1.2bec34p-2f,
                                                     0x1.a8279ap-2f,
                                                     0x1p-24f,
                                                     -0x1p-24f,
                                                     0x1p24f,
                                                     0.0f,
                                                     -0.0f,
                                                     HUGE_VALF,
                                                     -HUGE_VALF,
                                                     NAN,
                                                     -NAN,
                                                     0x1p-126f,
                                                     -0x1p-126f,
                                                     1,
                                                     -1,
                                                     88.722839f,
                                                     88.3762626f,
                                                     89,
                                                     -87.33655f,
                                                     -103.2789f,
                                                     -103.972084f,
                                                     -104,
                                                     0.55f,
                                                     -0.55f,
                                                     0.925f,
                                                     -0.925f,
                                                     3.95f,
                                                     -3.95f,
                                                     10,
                                                     -10,
                                                     0.34657359f,
                                                     -0.34657359f,
                                                     1.0397208f,
                                                     -1.0397208f,
                                                     17.32868f,
                                                     -17.32868f,
                                                     9.01f,
                                                     -9.01f,
                                                     14.3f,
                                                     -14.3f,
                                                     -10.05f,
                                                     -11,
                                                     -109,
                                                     -106.5f,
                                                     -13.9f,
                                                     3,
                                                     -3,
                                                     -18,
                                                     -17.3287f,
                                                     0.5f,
                                                     -0.5f,
                                                     1.5f,
                                                     -2.5f,
                                                     0x1p22f,
                                                     -0x1p22f,
                                                     0x1p23f,
                                                     -0x1p23f,
                                                     0x1p31f};

  const Target target_ = TestTarget(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, VectorMathTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(VectorMathTest, ErrorsAreWithinTheBounds) { Check(GetParam() ? 16 : 8); }

TEST_P(VectorMathTest, ErrorsOfF64AreWithinTheBounds) {
  for (int lanes = GetParam() ? 8 : 4; lanes >= 2; lanes /= 2) CheckF64(lanes);
}

TEST_P(VectorMathTest, ShorterVectors) {
  if (std::getenv("KIRSCH_ALL_FLOATS") != nullptr) GTEST_SKIP() << "the same code";
  if (GetParam()) Check(8);
  Check(4);
}

}  // namespace
}  // namespace kirsch::testing
