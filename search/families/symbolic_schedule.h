// SPDX-License-Identifier: Apache-2.0
// Makes a rule of a solved program: its decisions for one size of a dim become programs for any other size.
// The dim is that of the rows (M), of the columns (N), or of the reduction (K). So a family needs few
// searches.
#ifndef KIRSCH_SEARCH_FAMILIES_SYMBOLIC_SCHEDULE_H_
#define KIRSCH_SEARCH_FAMILIES_SYMBOLIC_SCHEDULE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// Heights of register tiles: bit h stands for h rows.
using TileHeights = uint32_t;

// Chooses among the programs that the decisions can make. Fewer choices are less code: each register tile is
// code of its own, and so is each number of rows that may be left behind the whole tiles.
struct SymbolicScheduleOptions {
  TileHeights heights = ~TileHeights{0};  // that register tiles may have
  // The last rows may be divided into other heights, as a short rest behind whole tiles may be slow. They are
  // so many whole tiles, and what is left behind them. Example, of tiles of 6 rows and 2 here: of 100 rows,
  // 84 are in whole tiles, and the last 16 may become 6 + 5 + 5. 0: only what is left is divided.
  uint32_t min_tail_tiles = 2;
  // True: columns that are left may have narrower vectors than whole tiles have.
  bool narrow_vectors = true;
  // True: what is left of a division is treated as it was in the solved program, if something was left there.
  // False: it is treated like a whole tile. Not for reductions.
  bool own_rest = false;
  // True: a move disappears if the root's placement has its operand there already. False: the decisions are
  // not for such roots.
  bool any_placement = false;
  // True: rows and columns vary. Rows are divided anew for each number of columns then.
  bool rows_and_columns = false;
};

// True if the two roots are the same but for their size along `dim`, and the distance of rows that are
// contiguous along it.
bool DifferInSizeOnly(Spec a, const Spec& b, size_t dim);

// Returns the spec with another size along `dim`. Operands that were contiguous along it stay so.
Spec Resized(Spec spec, size_t dim, uint32_t size);

// Returns the operands whose rows, or columns, are as far apart as the size along `dim` says, in a range of
// sizes. The bits are those of DimRanges::symbolic_strides.
//
// Nothing if there is no code for it. Kernels can take the distance of the rows of lhs, rhs and out only.
// Blocks of columns are tasks of a known number that share copies. So neither their dim nor the reduction can
// vary.
std::optional<uint8_t> SymbolicStrides(const Spec& least, const Spec& most, size_t dim);

// True if the program divides the dim somewhere so that something is left.
bool LeavesRest(const Impl& program, size_t dim);

// A program's decisions along one dim as a rule. The decisions along whole tiles of the dim, and along all
// tiles of the others, hold for any size, clipped:
// - A tile that is not smaller than all there is disappears.
// - What is left of a division is treated like a whole tile.
// - Copies have what there is.
// - Register tiles are chosen anew for each number of rows. Most have the height that is cheapest per row,
//   and the last rows have the heights that are cheapest together. Columns in vectors leave one tile, whose
//   last vector is partial.
// - A reduction that is as long as it may be leaves register tiles as they are.
//
// Example: the program for 96 rows is `tile m 24`, in it `move lhs L1`, and in that register tiles of 6 rows.
// For 100 rows there are four tiles of 24 rows as before. Then come 4 rows, which are also moved to L1, and
// have register tiles chosen for 4 rows.
//
// Not thread-safe: answers are kept.
class SymbolicSchedule {
 public:
  // `model` must outlive this. The program may be one for a range of columns if the dim is M, or for a range
  // of rows if it is K. Then only ApplyToRange makes sense, and the result is for a range of both.
  SymbolicSchedule(Impl program, size_t dim, const CostModel& model,
                   const SymbolicScheduleOptions& choice = {});

  const Impl& program() const { return program_; }

  // Returns the cost of the program that the decisions make of a placed root. The root differs from the one
  // they were taken for in its size only (DifferInSizeOnly). kInfiniteCost if the decisions are not legal
  // there: a tile that is to fill a cache is too large for it, or the register tile is too tall.
  Cost Price(const Spec& placed_root) { return AskRoot(placed_root).cost; }

  // Returns the heights of that program's register tiles, if the dim is M. The root must have a price.
  TileHeights HeightsOf(const Spec& placed_root) { return AskRoot(placed_root).heights; }

  // Returns that program. The root must have a price.
  Impl Apply(const Spec& placed_root);

  // Returns one program for all roots from `least` to `most` (see impl.h). `most` must have a price.
  //
  // Nothing if some register tile between them has none, or if the code would not be the same. That is so if
  // work is shared out along the dim, or if there is no code for copies or stores of any size.
  std::optional<Impl> ApplyToRange(const Spec& least, const Spec& most);

 private:
  // A part of the pattern, a spec for it, and the lines that are left: all that an answer depends on.
  struct Question {
    const Impl* pattern;
    Spec spec;
    Lines available;

    friend bool operator==(const Question&, const Question&) = default;
  };
  struct HashQuestion {
    size_t operator()(const Question& question) const;
  };

  // The outcome of the decisions for a spec. An infinite cost: they are not legal for it.
  struct Answer {
    Cost cost = kInfiniteCost;
    uint32_t tile =
        0;  // the columns, or rows, of the first register tile; where it is all of them, of the only one
    TileHeights heights = 0;
  };
  // How rows are divided among register tiles: `tile` rows each, but for the last rows, which are at least
  // `min_tail`.
  struct MainTile {
    uint32_t tile = 0, min_tail = 0;  // 0: none fits the registers

    // The most rows that are ever left behind whole tiles; and how many are left of so many rows.
    uint32_t most_left() const { return min_tail + tile - 1; }
    uint32_t Left(uint32_t rows) const {
      return rows < min_tail ? rows : min_tail + (rows - min_tail) % tile;
    }
  };

  // Ask* prices, Build* makes programs, and Build*Range programs for ranges. All follow the same pattern;
  // symbolic_schedule.cc says what each is for. A Build* that returns false has no program to make.
  bool TilesDim(const Decision& decision) const;
  static std::optional<size_t> DividedDim(const Impl& node);
  static Spec PartOf(const Impl& node, size_t dim, size_t child, Spec spec);
  bool IsChosenAnew(const Impl& node) const;
  const Impl& Deciding(const Impl& pattern, const Spec& spec, uint32_t least) const;
  const Impl& PatternOf(const Impl& node, const Decision& decision, size_t child) const;
  Decision TileOf(uint32_t size) const;
  Spec WithSize(Spec spec, uint32_t size) const;
  bool IsLegalHere(const Impl& node, const Spec& spec, const Decision& decision,
                   const Expansion& expansion) const;
  uint32_t Lanes(const Impl& node) const;  // of vectors along the dim; 1: a register tile has none
  uint32_t Unit(const Impl& node) const;   // so many sizes have the same register tile
  std::vector<Layout> RegisterLayouts(const Impl& node, const Spec& spec);
  Decision RegisterDecision(const Impl& node, const Spec& spec);
  Decision DecisionFor(const Impl& node, const Spec& spec) const;
  bool VectorsMayVary(const Spec& spec, uint32_t lanes) const;

  Answer AskRoot(const Spec& placed_root);
  Answer Ask(const Impl& pattern, const Spec& spec, Lines available);
  Answer AskParts(const Impl& node, const Spec& spec, size_t dim, Lines available);
  Answer AskChildren(const Impl& node, const Spec& spec, const Decision& decision, Lines available);
  Answer AskRegisterTiles(const Impl& node, const Spec& spec, Lines available);
  Answer AskFew(const Impl& node, const Spec& spec, Lines available);
  Answer AskTiles(const Impl& node, const Spec& spec, uint32_t tile, Lines available);
  Answer AskOneTile(const Impl& node, const Spec& spec);
  Cost TilingCost(const Spec& spec, uint32_t rows) const;
  MainTile MainTileOf(const Impl& node, const Spec& spec);
  const Impl* TilesOf(const Impl& node, const Spec& spec);
  Impl Build(const Impl& pattern, const Spec& spec, Lines available);
  bool BuildPriced(const Impl& pattern, const Spec& spec, Lines available, Impl* program);
  Impl BuildNode(const Impl& node, const Spec& spec, const Decision& decision, Lines available);
  Impl BuildRegisterTiles(const Impl& node, const Spec& spec, Lines available);
  bool BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildRegisterRange(const Impl& node, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildFewRange(const Impl& node, const Impl& tiles, const Spec& spec, uint32_t least, Lines available,
                     Impl* range);
  bool BuildTiles(const Impl& pattern, const Spec& spec, uint32_t least, Lines available, Impl whole,
                  Impl* range);
  bool BuildLengths(const Impl& node, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool ReductionMayVary(const Impl& node, const Spec& spec) const;
  bool CopyMayVaryHere(const Impl& node, const Spec& spec, const Spec& copied) const;

  const Impl program_;
  const size_t dim_;
  const CostModel& model_;
  const SymbolicScheduleOptions choice_;
  uint8_t symbolic_strides_ = 0;  // of the range that is being built
  std::unordered_map<Question, Answer, HashQuestion> known_;
  std::unordered_map<const Impl*, MainTile> main_tiles_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SYMBOLIC_SCHEDULE_H_
