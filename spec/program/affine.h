// SPDX-License-Identifier: Apache-2.0
// Computes with affine expressions of variables: the offsets, task numbers and trip counts of programs.
// Affine is all that lowering and the interpreter have to understand of addresses. Where a distance is a
// symbol, a term is a product of two variables.
//
// Example: 64 + i3 * 512 + i5 * i0 is {64, {{3, 512, kNoVar}, {5, 1, 0}}}.
#ifndef KIRSCH_SPEC_PROGRAM_AFFINE_H_
#define KIRSCH_SPEC_PROGRAM_AFFINE_H_

#include <cstdint>
#include <vector>

#include "spec/check.h"
#include "spec/dtype.h"

namespace kirsch {

using VarId = int;  // the number of a variable, of whatever has the expression
inline constexpr VarId kNoVar = -1;

// An expression of this form; terms with equal variables are not merged, so equality is one of form:
// constant + sum of coefficient * index [* times].
struct Affine {
  struct Term {
    VarId index = kNoVar;
    int64_t coefficient = 0;
    VarId times = kNoVar;

    friend bool operator==(const Term&, const Term&) = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  bool IsConstant() const { return terms.empty(); }
  friend bool operator==(const Affine&, const Affine&) = default;
};

inline Affine Constant(int64_t value) { return {value, {}}; }
inline Affine IndexOf(VarId index) { return {0, {{index, 1}}}; }
inline Affine Plus(Affine affine, int64_t constant) {
  affine.constant += constant;
  return affine;
}
inline Affine Plus(Affine affine, VarId index, int64_t coefficient, VarId times = kNoVar) {
  affine.terms.push_back({index, coefficient, times});
  return affine;
}
inline Affine Plus(Affine a, const Affine& b) {
  a.constant += b.constant;
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  return a;
}
// Multiplies by a number. A factor of 0 leaves no terms, so that the result is a constant.
inline Affine Times(const Affine& affine, int64_t factor) {
  Affine product = {affine.constant * factor, {}};
  for (const Affine::Term& term : affine.terms)
    if (factor != 0) product.terms.push_back({term.index, term.coefficient * factor, term.times});
  return product;
}

// Multiplies by a variable. No term of `affine` may have two variables already, since a term has room for two
// only.
inline Affine TimesVariable(const Affine& affine, VarId variable) {
  Affine product;
  if (affine.constant != 0) product.terms.push_back({variable, affine.constant});
  for (const Affine::Term& term : affine.terms) {
    KIRSCH_CHECK(term.times == kNoVar);
    product.terms.push_back({term.index, term.coefficient, variable});
  }
  return product;
}

// Turns an offset in elements of `dtype` into one in bytes, if that is a type of blocks. Then every term must
// be a whole number of blocks. An offset in elements of any other type stays as it is.
inline Affine InBytes(Dtype dtype, const Affine& elements) {
  if (!IsOfBlocks(dtype)) return elements;
  const auto bytes = [&](int64_t count) {
    KIRSCH_CHECK(count % BlockOf(dtype) == 0);
    return Bytes(dtype, count);
  };
  Affine result = Constant(bytes(elements.constant));
  for (const Affine::Term& term : elements.terms)
    result = Plus(result, term.index, bytes(term.coefficient), term.times);
  return result;
}

// Computes the value of an expression; `value(index)` returns that of a variable.
template <typename Value>
int64_t Evaluate(const Affine& affine, const Value& value) {
  int64_t sum = affine.constant;
  for (const Affine::Term& term : affine.terms)
    sum += term.coefficient * value(term.index) * (term.times == kNoVar ? 1 : value(term.times));
  return sum;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_AFFINE_H_
