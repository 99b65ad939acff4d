// SPDX-License-Identifier: Apache-2.0
// Suggests the known word that a user may have meant by an unknown one.
#ifndef KIRSCH_SPEC_TEXT_NEAREST_H_
#define KIRSCH_SPEC_TEXT_NEAREST_H_

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

// The fewest edits that turn `a` into `b`. An edit inserts, drops or replaces a character, or swaps two
// neighbours: "mamtul" is one edit from "matmul". Takes time in proportion to the product of the lengths.
size_t EditDistance(std::string_view a, std::string_view b);

// DidYouMean for names in a vector; it is here to be compiled once.
std::string HintAmong(std::string_view word, const std::vector<std::string_view>& known);

// Returns "; did you mean 'matmul'?" if one of `known`, a container of strings, is near `word`; else nothing.
// Near is one edit away, or two if the word has six characters or more. A word of one or two characters has
// to be the same but for the case of its letters, as too many names are one edit from it. Letters of either
// case are alike. Of several names that are as near, the hint has the first.
template <typename Names>
std::string DidYouMean(std::string_view word, const Names& known) {
  return HintAmong(word, std::vector<std::string_view>(std::begin(known), std::end(known)));
}

// The names of a table's rows, in its order: what a word is looked for in. They point into the table.
template <typename Table>
std::vector<std::string_view> NamesOf(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  return names;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_NEAREST_H_
