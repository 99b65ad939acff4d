// SPDX-License-Identifier: Apache-2.0
// The decisions of one program as a rule for programs of other sizes of one dim: of any number of rows (M),
// of columns (N), or of steps of the reduction (K).
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

// Which of the programs that the decisions make. Each register tile is code of its own, and so is each number
// of rows that are left behind the whole tiles.
struct SymbolicScheduleOptions {
  TileHeights heights = ~TileHeights{0};  // of register tiles
  // Of the last rows, at least so many whole tiles and what is left behind them may be divided into other
  // heights, as those of what is left may be slow. 0: none are.
  uint32_t min_tail_tiles = 2;
  // That columns that are left may have vectors that are narrower than those of whole tiles.
  bool narrow_vectors = true;
  // That what is left of a division is treated as it was in the program that decisions are from, if anything
  // was. Not of a reduction.
  bool own_rest = false;
  // That moves disappear whose operand is there already, as the root's placement has it; else the decisions
  // are not for such roots.
  bool any_placement = false;
};

// Are the two roots the same but for their size along `dim`, and the distance of rows that are contiguous
// along it?
bool DifferInSizeOnly(Spec a, const Spec& b, size_t dim);

// The spec with another size along `dim`; what was contiguous along it stays so.
Spec Resized(Spec spec, size_t dim, uint32_t size);

// Of a range of sizes along `dim`, the operands whose rows, or columns, are as far apart as the size says, as
// DimRanges has them. Nothing if there is no code for it: kernels take the distance of the rows of lhs, rhs
// and out, and blocks of columns are tasks of a known number, that share copies.
std::optional<uint8_t> SymbolicStrides(const Spec& least, const Spec& most, size_t dim);

// Does the program divide the dim somewhere so that something is left?
bool LeavesRest(const Impl& program, size_t dim);

// Of the program that it was made of, what is decided along whole tiles of the dim, and along all tiles of
// the others, holds for any size, clipped: a tile that is not smaller than what there is disappears; what is
// left of a division is treated like a whole tile; copies have what there is. But register tiles are chosen
// anew for each number of rows: tiles of the height that is the cheapest per row, then, for what is left,
// tiles of the heights that are cheapest together. Of columns that are vectors, what is left is one tile, the
// last of whose vectors is partial. A reduction that is as long as it may be leaves register tiles as they
// are. Not thread-safe.
class SymbolicSchedule {
 public:
  // `model` outlives this. The program may be one for a range of columns, if the dim is M, or of rows, if it
  // is K: then ApplyToRange alone makes sense, and makes one for a range of both.
  SymbolicSchedule(Impl program, size_t dim, const CostModel& model,
                   const SymbolicScheduleOptions& choice = {});

  const Impl& program() const { return program_; }

  // What the program costs that the decisions make of a placed root, which differs from the one that they
  // were taken for in its size only (DifferInSizeOnly); kInfiniteCost if they are not legal there: what is to
  // fill a cache is too large for it, or the register tile is too tall.
  Cost Price(const Spec& placed_root) { return AskRoot(placed_root).cost; }

  // The heights of that program's register tiles, where the dim is M. Only if it has a price.
  TileHeights HeightsOf(const Spec& placed_root) { return AskRoot(placed_root).heights; }

  // That program. Only if it has a price.
  Impl Apply(const Spec& placed_root);

  // One for all roots from `least` to `most` (see impl.h). Only if `most` has a price. Nothing if some
  // register tile between them has none, or the code would not be the same: where work is shared out along
  // the dim, or what is copied or stored can't be of a size that is known at run time only.
  std::optional<Impl> ApplyToRange(const Spec& least, const Spec& most);

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
    uint32_t tile = 0;  // of what register tiles compute: so much first; all of it: in one
    TileHeights heights = 0;
  };
  // How rows are divided among register tiles: `tile` rows each, but for the last ones, which are `min_tail`
  // at least.
  struct MainTile {
    uint32_t tile = 0, min_tail = 0;  // 0: none fits the registers

    uint32_t most_left() const { return min_tail + tile - 1; }
    uint32_t Left(uint32_t rows) const {
      return rows < min_tail ? rows : min_tail + (rows - min_tail) % tile;
    }
  };

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
  Answer AskOneTile(const Impl& node, const Spec& spec);
  Cost TilingCost(const Spec& spec, uint32_t rows) const;
  MainTile MainTileOf(const Impl& node, const Spec& spec);
  Impl Build(const Impl& pattern, const Spec& spec, Lines available);
  bool BuildPriced(const Impl& pattern, const Spec& spec, Lines available, Impl* program);
  Impl BuildNode(const Impl& node, const Spec& spec, const Decision& decision, Lines available);
  Impl BuildRegisterTiles(const Impl& node, const Spec& spec, Lines available);
  bool BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildRegisterRange(const Impl& node, const Spec& spec, uint32_t least, Lines available, Impl* range);
  bool BuildFewRange(const Impl& node, const Spec& spec, uint32_t least, Lines available, Impl* range);
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
