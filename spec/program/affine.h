// SPDX-License-Identifier: Apache-2.0
// Affine expressions of variables: the offsets, task numbers and trip counts of programs. Where a distance is
// a size known at run time only, terms are products of two variables.
#ifndef KIRSCH_SPEC_PROGRAM_AFFINE_H_
#define KIRSCH_SPEC_PROGRAM_AFFINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "spec/check.h"
#include "spec/dtype.h"

namespace kirsch {

using VarId = int;  // the number of a variable, of whatever has the expression
inline constexpr VarId kNoVar = -1;

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
// (No terms times 0.)
inline Affine Times(const Affine& affine, int64_t factor) {
  Affine product = {affine.constant * factor, {}};
  for (const Affine::Term& term : affine.terms)
    if (factor != 0) product.terms.push_back({term.index, term.coefficient * factor, term.times});
  return product;
}

// The same times a variable, where there is none in it that is multiplied by one.
inline Affine TimesVariable(const Affine& affine, VarId variable) {
  Affine product;
  if (affine.constant != 0) product.terms.push_back({variable, affine.constant});
  for (const Affine::Term& term : affine.terms) {
    KIRSCH_CHECK(term.times == kNoVar);
    product.terms.push_back({term.index, term.coefficient, variable});
  }
  return product;
}

// An offset in elements of `dtype` as one of bytes, where that is a type of blocks, every term of which is of
// whole ones; else as it is.
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

// Its value, `value(index)` being that of a variable.
template <typename Value>
int64_t Evaluate(const Affine& affine, const Value& value) {
  int64_t sum = affine.constant;
  for (const Affine::Term& term : affine.terms)
    sum += term.coefficient * value(term.index) * (term.times == kNoVar ? 1 : value(term.times));
  return sum;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_AFFINE_H_
