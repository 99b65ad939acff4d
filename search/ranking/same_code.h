// SPDX-License-Identifier: Apache-2.0
// Tells which decision trees are the same code, without writing the programs out. Two programs are the same
// code if their Programs (spec/program/impl_program.h) are equal.
//
// Some decisions make no difference to the code: moves that are no code (all but those to the registers), and
// so their order; the level of a copy; and how a dim was divided where a tile that runs once has no loop.
#ifndef KIRSCH_SEARCH_RANKING_SAME_CODE_H_
#define KIRSCH_SEARCH_RANKING_SAME_CODE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"

namespace kirsch {

// Stands for the code of a spec's program: a list of what is done one after the other, each at its place in
// the iteration space. Fragments of one spec that are equal are the same code. Fragments that differ nearly
// always differ in code; WriteProgram tells for certain.
//
// Example, of 9 rows: `tile m 8`, and in the 8 rows `tile m 6`, makes parts of 6, 2 and 1 rows. So does `tile
// m 6`, and `tile m 2` in what is left. Both are the same three items, at rows 0, 6 and 8.
class CodeFragment {
 public:
  CodeFragment() = default;  // nothing

  // Returns the code that `decision`, with these children, makes of `spec`. Thread-safe.
  static CodeFragment Of(const Spec& spec, const Decision& decision, const Expansion& expansion,
                         absl::Span<const CodeFragment* const> children);

  using Key =
      std::array<uint64_t, 2>;  // of equal fragments equal, of others different but for chance (2^-128)
  Key key() const;

 private:
  // A loop or a part without one. `place`: where it begins along each dim, relative to the fragment.
  struct Item {
    std::array<uint32_t, kMaxDims> place = {};
    Key what = {};
  };
  static CodeFragment Single(const Key& what) { return CodeFragment({Item{{}, what}}); }
  static CodeFragment OfTiles(const Decision& decision, const Expansion& expansion,
                              absl::Span<const CodeFragment* const> children);
  explicit CodeFragment(std::vector<Item> items) : items_(std::move(items)) {}

  std::vector<Item> items_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_SAME_CODE_H_
