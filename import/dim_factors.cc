// SPDX-License-Identifier: Apache-2.0
#include "import/dim_factors.h"

#include <algorithm>

namespace kirsch {

int DimFactors::New(int64_t size) {
  factors_.push_back({size});
  return static_cast<int>(factors_.size()) - 1;
}

DimFactors::List DimFactors::Dim(int64_t size) {
  if (size == 1) return {};
  return {New(size)};
}

void DimFactors::Append(int factor, List* list) const {
  const Factor& f = factors_[static_cast<size_t>(factor)];
  if (f.same >= 0) return Append(f.same, list);
  if (f.outer < 0) return list->push_back(factor);
  Append(f.outer, list);
  Append(f.inner, list);
}

DimFactors::List DimFactors::Split(const List& list) const {
  List split;
  for (const int factor : list) Append(factor, &split);
  return split;
}

bool DimFactors::Unify(const List& a, const List& b) {
  // The factors that are left, the next one last. A pair of the same size becomes one; of a pair that is not,
  // the larger one is split so that its inner part is the other.
  List left = Split(a), right = Split(b);
  std::reverse(left.begin(), left.end());
  std::reverse(right.begin(), right.end());
  while (!left.empty() && !right.empty()) {
    const int x = left.back(), y = right.back();
    if (x != y && size(x) != size(y)) {
      List& larger = size(x) > size(y) ? left : right;
      const int whole = larger.back(), part = size(x) > size(y) ? y : x;
      if (size(whole) % size(part) != 0) return false;
      const int outer = New(size(part)), inner = New(size(whole) / size(part));
      factors_[static_cast<size_t>(whole)].outer = outer;
      factors_[static_cast<size_t>(whole)].inner = inner;
    } else {
      if (x != y) factors_[static_cast<size_t>(x)].same = y;
      left.pop_back();
      right.pop_back();
    }
    // Either may occur further on, and be split by now.
    const auto again = [&](List* list) {
      std::reverse(list->begin(), list->end());
      *list = Split(*list);
      std::reverse(list->begin(), list->end());
    };
    again(&left);
    again(&right);
  }
  return left.empty() && right.empty();
}

}  // namespace kirsch
