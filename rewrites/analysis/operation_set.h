// SPDX-License-Identifier: Apache-2.0
// Holds a set of operations of a graph, by their places in GraphUses::operations.
#ifndef KIRSCH_REWRITES_ANALYSIS_OPERATION_SET_H_
#define KIRSCH_REWRITES_ANALYSIS_OPERATION_SET_H_

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kirsch {

inline constexpr size_t kMaxOperations = 1024;  // of a graph: the search refuses more

// A bit for each place. Sets are ordered as numbers whose lowest bit is place 0, so a set comes after those
// that it contains.
class OperationSet {
 public:
  constexpr OperationSet() = default;
  // The operation at the place.
  static constexpr OperationSet Of(size_t place) {
    OperationSet set;
    set.words_[place / kBits] = uint64_t{1} << place % kBits;
    return set;
  }
  // The first `count` operations.
  static constexpr OperationSet First(size_t count) {
    OperationSet set;
    for (size_t i = 0; i < count / kBits; ++i) set.words_[i] = ~uint64_t{0};
    if (count % kBits != 0) set.words_[count / kBits] = (uint64_t{1} << count % kBits) - 1;
    return set;
  }

  constexpr bool Contains(size_t place) const { return (words_[place / kBits] >> place % kBits & 1) != 0; }
  constexpr bool Contains(const OperationSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i)
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    return true;
  }
  constexpr bool empty() const { return *this == OperationSet(); }
  constexpr size_t size() const {
    size_t size = 0;
    for (const uint64_t word : words_)
      if (word != 0) size += static_cast<size_t>(std::popcount(word));  // a call, where the CPU may lack it
    return size;
  }

  // Calls use(place) for each operation, in ascending order.
  template <typename Use>
  constexpr void ForEach(Use use) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t word = words_[i]; word != 0; word &= word - 1)
        use(i * kBits + static_cast<size_t>(std::countr_zero(word)));
  }
  // The first place that is in the set, or that is not; kMaxOperations if there is none.
  constexpr size_t first() const {
    return FirstFor([](uint64_t word) { return std::countr_zero(word); });
  }
  constexpr size_t first_missing() const {
    return FirstFor([](uint64_t word) { return std::countr_one(word); });
  }

  constexpr OperationSet& operator|=(const OperationSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend constexpr OperationSet operator|(OperationSet a, const OperationSet& b) { return a |= b; }
  friend constexpr OperationSet operator&(OperationSet a, const OperationSet& b) {
    for (size_t i = 0; i < a.words_.size(); ++i) a.words_[i] &= b.words_[i];
    return a;
  }
  // The operations of `a` that are not in `b`.
  friend constexpr OperationSet operator-(OperationSet a, const OperationSet& b) {
    for (size_t i = 0; i < a.words_.size(); ++i) a.words_[i] &= ~b.words_[i];
    return a;
  }
  friend constexpr bool operator==(const OperationSet&, const OperationSet&) = default;
  friend constexpr std::strong_ordering operator<=>(const OperationSet& a, const OperationSet& b) {
    return std::lexicographical_compare_three_way(a.words_.rbegin(), a.words_.rend(), b.words_.rbegin(),
                                                  b.words_.rend());
  }
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const OperationSet& set) {
    return Hash::combine(std::move(hash), set.words_);
  }

 private:
  static constexpr size_t kBits = 64;

  // `skipped` says how many places of a word come before the first one that is wanted.
  template <typename Skipped>
  constexpr size_t FirstFor(Skipped skipped) const {
    size_t place = 0;
    for (const uint64_t word : words_) {
      const auto in_word = static_cast<size_t>(skipped(word));
      place += in_word;
      if (in_word < kBits) break;
    }
    return place;
  }

  std::array<uint64_t, kMaxOperations / kBits> words_ = {};
};

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ANALYSIS_OPERATION_SET_H_
