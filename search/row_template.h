// The decisions of one program as a rule for programs of other numbers of rows (sizes of the output's dim M).
#ifndef KIRSCH_SEARCH_ROW_TEMPLATE_H_
#define KIRSCH_SEARCH_ROW_TEMPLATE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// Heights of register tiles: bit h stands for h rows.
using TileHeights = uint32_t;

// What register tiles of rows there may be: each height is code of its own, and so is each number of rows
// that are left behind the whole tiles.
struct RegisterRows {
  TileHeights heights = ~TileHeights{0};
  // That the last whole tiles and what is left behind them may be shared out anew, as heights that are slow
  // can do: so many of them.
  uint32_t kept_tiles = 2;
};

// Of the program that it was made of, what is decided along whole tiles of M, and along all tiles of the
// other dims, holds for any number of rows, clipped: a tile of M that is not smaller than the rows there are
// disappears; the rows that are left of a division are treated like a whole tile; copies have the rows that
// there are. But register tiles are chosen anew for each number of rows: tiles of the height that is the
// cheapest per row, then, for what is left, tiles of the heights that are cheapest together. Not thread-safe.
class RowTemplate {
 public:
  // `model` outlives this.
  RowTemplate(Impl program, const CostModel& model, const RegisterRows& choice = {});

  const Impl& program() const { return program_; }

  // What the program costs that the decisions make of a placed root, which differs from the one that they
  // were taken for in its rows only; kInfiniteCost if they are not legal there: what is to fill a cache is
  // too large for it, or the register tile is too tall.
  Cost Price(const Spec& placed_root) { return AskRoot(placed_root).cost; }

  // The heights of that program's register tiles. Only if it has a price.
  TileHeights HeightsOf(const Spec& placed_root) { return AskRoot(placed_root).heights; }

  // That program. Only if it has a price.
  Impl Apply(const Spec& placed_root);

  // One for `least` rows to those of `placed_root` (see impl.h). Only if all of these have a price. Nothing
  // if its code would not be the same: where work is shared out by rows, or what is copied has its rows side
  // by side.
  std::optional<Impl> ApplyToRange(const Spec& placed_root, uint32_t least);

 private:
  struct Question {
    const Impl* pattern;
    Spec spec;
    Lines available;

    friend bool operator==(const Question&, const Question&) = default;
  };
  struct HashQuestion {
    size_t operator()(const Question& question) const;
  };

  // What decisions make of a spec.
  struct Answer {
    Cost cost = kInfiniteCost;
    uint32_t tile = 0;  // of rows that register tiles compute: so many first; all of them: in one
    TileHeights heights = 0;
  };
  // How rows are divided among register tiles: `tile` rows each, but for the last ones, no fewer than `kept`.
  struct MainTile {
    uint32_t tile = 0, kept = 0;  // 0: none fits the registers

    uint32_t most_left() const { return kept + tile - 1; }
    uint32_t Left(uint32_t rows) const { return rows < kept ? rows : kept + (rows - kept) % tile; }
  };

  Answer AskRoot(const Spec& placed_root);
  Answer Ask(const Impl& pattern, const Spec& spec, Lines available);
  Answer AskChildren(const Impl& node, const Spec& spec, const Decision& decision, Lines available);
  Answer AskRegisterTiles(const Impl& node, const Spec& spec, Lines available);
  Answer AskFewRows(const Impl& node, const Spec& spec, Lines available);
  Answer AskOneTile(const Impl& node, const Spec& spec);
  Cost TilingCost(const Spec& spec, uint32_t rows) const;
  MainTile MainTileOf(const Impl& node, const Spec& spec);
  Impl Build(const Impl& pattern, const Spec& spec, Lines available);
  Impl BuildNode(const Impl& node, const Spec& spec, const Decision& decision, Lines available);
  Impl BuildRegisterTiles(const Impl& node, const Spec& spec, Lines available);
  bool BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildRegisterRange(const Impl& node, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildRowTiles(const Impl& pattern, const Spec& spec, uint32_t least, Lines available, Impl whole,
                     Impl* range);

  const Impl program_;
  const CostModel& model_;
  const RegisterRows choice_;
  std::unordered_map<Question, Answer, HashQuestion> known_;
  std::unordered_map<const Impl*, MainTile> main_tiles_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_ROW_TEMPLATE_H_
