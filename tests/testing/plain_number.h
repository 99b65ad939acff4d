// SPDX-License-Identifier: Apache-2.0
// Elements as numbers, and numbers of which only two ends are known: what the plain evaluation of a graph
// (plain_graph.h) computes with. Made from the definitions of the formats alone: it shares nothing with
// spec/, but for the numbers that a row of spec/dtype.h has of a float which is not defined here.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_NUMBER_H_
#define KIRSCH_TESTS_TESTING_PLAIN_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch::testing {

// An element type of the kernel language.
struct PlainType {
  std::string_view name;
  int bytes;
  int precision;       // bits of a float's significand; 0: an integer
  int least_exponent;  // of the smallest normal float, as std::ilogb has it
  double least, most;  // finite
  // Of a float: the largest exponent is of infinities and NaNs, else of numbers, and NaN is all ones.
  bool infinities = true;
  bool is_result = true;  // something may be cast to it
};
const std::vector<PlainType>& PlainTypes();
const PlainType& PlainTypeOf(std::string_view name);
inline bool IsFloat(const PlainType& type) { return type.precision != 0; }

// The nearest number of the type, ties to even; of a float beyond its range an infinity, or NaN if it
// has none, of an integer its end.
double RoundTo(const PlainType& type, double x);

// An element in memory. `x` is a number of the type.
double LoadPlain(const PlainType& type, const void* data, int64_t index);
void StorePlain(const PlainType& type, double x, void* data, int64_t index);

// A correct kernel's value is one from `low` to `high`, ends included; if these are NaN, anything goes.
struct Bounds {
  double low = 0, high = 0;
};
Bounds Exactly(double x);
Bounds Anything();
bool IsAnything(const Bounds& bounds);
bool IsExact(const Bounds& bounds);
double MagnitudeOf(const Bounds& bounds);  // the largest there may be

// The type that kernels compute floats of `type` in: f64, or f32.
const PlainType& ComputedIn(const PlainType& type);
// The distance of 1 and the next number.
double UlpOf(const PlainType& type);

// What numbers of `type`, f32 or f64, may be where the exact result lies between the ends, is off by so many
// units in the last place, and by `absolute`; anything if it may be beyond the range. Ends are doubles, so
// those of f64 are off themselves, which is allowed for.
Bounds Widened(double low, double high, double ulps, double absolute, const PlainType& type);

// The sum of floats in any order, perhaps of parts; of integers modulo 2^32, which is exact if all of them
// are.
Bounds SumOf(const std::vector<Bounds>& terms, const PlainType& type = PlainTypeOf("f32"));
Bounds IntegerSumOf(const std::vector<Bounds>& terms);

// From the least to the greatest of what a function gives for the ends of both; not rounded.
template <typename Function>
Bounds AtCorners(const Bounds& a, const Bounds& b, const Function& function) {
  if (IsAnything(a) || IsAnything(b)) return Anything();
  Bounds result = Exactly(function(a.low, b.low));
  for (const double x : {function(a.low, b.high), function(a.high, b.low), function(a.high, b.high)}) {
    if (!(x >= result.low)) result.low = x;  // a NaN stays one
    if (!(x <= result.high)) result.high = x;
  }
  return result;
}

// Converted to the type.
Bounds CastTo(const PlainType& type, const Bounds& x);

// Arithmetic modulo 2^32 ('+', '-', '*'); what is not exact and may wrap around is anything that an s32 is.
Bounds IntegerArithmetic(char operation, const Bounds& a, const Bounds& b);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_NUMBER_H_
