// SPDX-License-Identifier: Apache-2.0
// Operations of row programs, evaluated in double, with what kernels may be off.
#ifndef KIRSCH_TESTS_TESTING_ROW_EVALUATION_H_
#define KIRSCH_TESTS_TESTING_ROW_EVALUATION_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/operation.h"
#include "tests/testing/ulp_bounds.h"

namespace kirsch::testing {

// What a value is, in double, and how far that of a kernel may be off.
struct Bounded {
  double value = 0, error = 0;
};

// `type`: the one that the kernel computes in. Where it is f64, the double has roundings of its own.
inline Bounded Rounded(double value, double error, double ulps, Dtype type) {
  const bool wide = type == Dtype::kF64;
  const double most = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (!(std::fabs(value) + error <= most)) return {value, HUGE_VAL};
  const double all = ulps + (wide ? 2 : 0);
  return {value, error + all * (std::fabs(value) + error) * (wide ? 0x1p-52 : 0x1p-23) +
                     all * (wide ? 0x1p-1074 : 0x1p-149)};
}

// Of s32: modulo 2^32.
inline double EvaluateIntegers(Operation op, double x, double y) {
  const auto a = static_cast<uint64_t>(static_cast<int64_t>(x)),
             b = static_cast<uint64_t>(static_cast<int64_t>(y));
  const bool largest = op == Operation::kMax || op == Operation::kMaxNum;
  const uint64_t result = op == Operation::kAdd   ? a + b
                          : op == Operation::kSub ? a - b
                          : op == Operation::kMul ? a * b
                          : largest == (x > y)    ? a
                                                  : b;
  return static_cast<int32_t>(static_cast<uint32_t>(result));
}

// What the row of an operation that Evaluate has no definition of its own for says it means, and how that
// changes where the arguments are off.
inline Bounded ByItsRow(Operation op, const Bounded& a, const Bounded& b, Dtype type) {
  const Meaning meaning = Info(op).meaning;
  if (meaning == nullptr) {
    ADD_FAILURE() << "no such operation";
    return {};
  }
  const double value = meaning(a.value, b.value);
  double error = 0;
  for (double x : {-1.0, 1.0})
    for (double y : {-1.0, 1.0}) {
      const double off = std::fabs(meaning(a.value + x * a.error, b.value + y * b.error) - value);
      error = std::isnan(off) ? HUGE_VAL : std::max(error, off);
    }
  return Rounded(value, 2 * error, UlpBound(op, a.value), type);
}

// 1 or 0, or either where the arguments may be on both sides of each other.
inline Bounded Compare(Operation op, const Bounded& a, const Bounded& b) {
  const bool holds = op == Operation::kLess    ? a.value < b.value
                     : op == Operation::kEqual ? a.value == b.value
                                               : a.value <= b.value;
  const bool may_turn = a.error + b.error > 0 && std::fabs(a.value - b.value) <= a.error + b.error;
  return {holds ? 1.0 : 0.0, may_turn ? 1.0 : 0.0};
}

// One of two, or either where the condition may be 0.
inline Bounded Select(const Bounded& condition, const Bounded& a, const Bounded& b) {
  const Bounded &chosen = condition.value != 0 ? a : b, &other = condition.value != 0 ? b : a;
  if (condition.error == 0 || std::fabs(condition.value) > condition.error) return chosen;
  return {chosen.value, std::max(chosen.error, std::fabs(chosen.value - other.value) + other.error)};
}

// One element of anything but loads and reductions, in a type of floats.
inline Bounded Evaluate(Operation op, const Bounded& a, const Bounded& b, const Bounded& c = {},
                        Dtype type = Dtype::kF32) {
  const double ulps = UlpBound(op);
  const auto rounded = [&](double value, double error, double most_ulps) {
    return Rounded(value, error, most_ulps, type);
  };
  if (std::isnan(a.value) || std::isnan(b.value) || std::isnan(c.value)) return {NAN, HUGE_VAL};
  switch (op) {
    case Operation::kF32:
      return {static_cast<float>(a.value), 0};
    case Operation::kAdd:
      return rounded(a.value + b.value, a.error + b.error, ulps);
    case Operation::kSub:
      return rounded(a.value - b.value, a.error + b.error, ulps);
    case Operation::kMul:
      return rounded(a.value * b.value,
                     std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error, ulps);
    case Operation::kDiv: {
      const double quotient = a.value / b.value, least = std::fabs(b.value) - b.error;
      const double error = least > 0 ? (a.error + std::fabs(quotient) * b.error) / least : HUGE_VAL;
      return rounded(quotient, error, ulps);
    }
    case Operation::kMax:
    case Operation::kMaxNum:
      return {std::max(a.value, b.value), std::max(a.error, b.error)};
    case Operation::kMin:
    case Operation::kMinNum:
      return {std::min(a.value, b.value), std::max(a.error, b.error)};
    case Operation::kNeg:
      return {-a.value, a.error};
    case Operation::kSqrt: {
      const double root = std::sqrt(a.value), least = std::sqrt(std::max(0.0, a.value - a.error));
      return rounded(root, a.value - a.error < 0 ? HUGE_VAL : root - least, ulps);
    }
    case Operation::kExp:
      return rounded(std::exp(a.value), std::exp(a.value + a.error) - std::exp(a.value), ulps);
    case Operation::kTanh:
      return rounded(std::tanh(a.value), a.error, ulps);
    case Operation::kErf:
      return rounded(std::erf(a.value), 1.13 * a.error, ulps);
    case Operation::kSigmoid:
      return rounded(1 / (1 + std::exp(-a.value)), a.error / 4, ulps);
    case Operation::kAbs:
      return {std::fabs(a.value), a.error};
    case Operation::kSin:
    case Operation::kCos:
      return rounded(op == Operation::kSin ? std::sin(a.value) : std::cos(a.value),
                     std::fabs(a.value) + a.error < 0x1p20 ? a.error : HUGE_VAL, ulps);
    case Operation::kLess:
    case Operation::kLessEqual:
    case Operation::kEqual:
      return Compare(op, a, b);
    case Operation::kSelect:
      return Select(a, b, c);
    case Operation::kGelu:
      return rounded(a.value * std::erfc(-a.value / std::sqrt(2.0)) / 2, 1.13 * a.error, ulps);
    case Operation::kGeluTanh: {
      const double cube = a.value * a.value * a.value;
      return rounded(a.value / (1 + std::exp(-std::sqrt(8 / M_PI) * (a.value + 0.044715 * cube))),
                     1.13 * a.error, UlpBound(op, a.value));
    }
    case Operation::kSilu:
      return rounded(a.value / (1 + std::exp(-a.value)), 1.1 * a.error, ulps);
    case Operation::kElu: {
      const double less = a.value > 0 ? 0 : std::expm1(a.value);
      return rounded(a.value > 0 ? a.value : b.value * less,
                     std::max(1.0, std::fabs(b.value)) * a.error + std::fabs(less) * b.error,
                     ulps * std::max(1.0, std::fabs(b.value)));
    }
    case Operation::kSoftplus:
      return rounded(std::max(a.value, 0.0) + std::log1p(std::exp(-std::fabs(a.value))), a.error, ulps);
    default:
      return ByItsRow(op, a, b, type);
  }
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ROW_EVALUATION_H_
