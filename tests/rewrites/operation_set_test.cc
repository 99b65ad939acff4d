// SPDX-License-Identifier: Apache-2.0
#include "rewrites/analysis/operation_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace kirsch {
namespace {

// Sets of places in any word, beside those of the standard library.
TEST(OperationSet, IsASet) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::set<size_t> a, b;
    OperationSet set_a, set_b;
    for (size_t n = random() % 9; n > 0; --n) {
      const size_t place = random() % kMaxOperations;
      const bool to_a = random() % 2 == 0, to_b = random() % 2 == 0;
      if (to_a) {
        a.insert(place);
        set_a |= OperationSet::Of(place);
      }
      if (to_b) {
        b.insert(place);
        set_b |= OperationSet::Of(place);
      }
    }
    std::set<size_t> both, only_a, any = a;
    any.insert(b.begin(), b.end());
    for (const size_t place : a) (b.count(place) != 0 ? both : only_a).insert(place);
    const auto places = [](const OperationSet& set) {
      std::vector<size_t> all;
      set.ForEach([&](size_t place) { all.push_back(place); });
      return all;
    };
    const auto list = [](const std::set<size_t>& set) { return std::vector<size_t>(set.begin(), set.end()); };
    EXPECT_EQ(places(set_a | set_b), list(any));
    EXPECT_EQ(places(set_a & set_b), list(both));
    EXPECT_EQ(places(set_a - set_b), list(only_a));
    EXPECT_EQ(set_a.size(), a.size());
    EXPECT_EQ(set_a.empty(), a.empty());
    EXPECT_EQ(set_a.Contains(set_b), std::includes(a.begin(), a.end(), b.begin(), b.end()));
    EXPECT_EQ(set_a == set_b, a == b);
    EXPECT_EQ(set_a.first(), a.empty() ? kMaxOperations : *a.begin());
    // As numbers: the largest place that only one of them has decides.
    std::vector<size_t> differ;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(differ));
    EXPECT_EQ(set_a < set_b, !differ.empty() && b.count(differ.back()) != 0);
  }
}

TEST(OperationSet, FirstPlaces) {
  for (size_t count = 0; count <= kMaxOperations; ++count) {
    const OperationSet set = OperationSet::First(count);
    EXPECT_EQ(set.size(), count);
    EXPECT_EQ(set.first_missing(), count);
    if (count < kMaxOperations) {
      EXPECT_FALSE(set.Contains(count));
    }
  }
}

}  // namespace
}  // namespace kirsch
