// SPDX-License-Identifier: Apache-2.0
// Which decision trees are the same code. Two programs are the same code if their Programs
// (spec/program/impl_program.h) are equal. What makes no difference to that: moves that are no code (all but
// those to the registers), so their order, too; the level of a copy; and how a dim was divided where a tile
// that runs once has no loop. Here is what tells parts of programs apart without writing them out.
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

// The code of a spec's program: what is done one after the other, each at its place in the iteration space.
// Fragments of one spec that are equal are the same code. Others nearly always differ: see WriteProgram for
// certainty.
class CodeFragment {
 public:
  CodeFragment() = default;  // nothing

  // What `decision`, with these children, makes of `spec`. Thread-safe.
  static CodeFragment Of(const Spec& spec, const Decision& decision, const Expansion& expansion,
                         absl::Span<const CodeFragment* const> children);

  using Key =
      std::array<uint64_t, 2>;  // of equal fragments equal, of others different but for chance (2^-128)
  Key key() const;

 private:
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
