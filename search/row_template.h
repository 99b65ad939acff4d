// The decisions of one program as a rule for programs of other numbers of rows (sizes of the output's dim M).
#ifndef KIRSCH_SEARCH_ROW_TEMPLATE_H_
#define KIRSCH_SEARCH_ROW_TEMPLATE_H_

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// Of the program that it was made of, what is decided along whole tiles of M, and along all tiles of the
// other dims, holds for any number of rows, clipped: a tile of M that is not smaller than the rows there are
// disappears; the rows that are left of a division are treated like a whole tile; copies have the rows that
// there are. Not thread-safe.
class RowTemplate {
 public:
  // `model` outlives this.
  RowTemplate(Impl program, const CostModel& model);

  // What the program costs that the decisions make of a placed root, which differs from the one that they
  // were taken for in its rows only; kInfiniteCost if they are not legal there: what is to fill a cache is
  // too large for it, or the register tile is too tall.
  Cost Price(const Spec& placed_root);

  // That program. Only if it has a price.
  Impl Apply(const Spec& placed_root) const { return Build(program_, placed_root); }

  // One for `least` rows to those of `placed_root` (see impl.h). Only if all of these have a price. Nothing
  // if its code would not be the same: where work is shared out by rows, or what is copied has its rows side
  // by side.
  std::optional<Impl> ApplyToRange(const Spec& placed_root, uint32_t least) const;

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

  Cost Price(const Impl& pattern, const Spec& spec, Lines available);
  Cost PriceAnew(const Impl& pattern, const Spec& spec, Lines available);
  Impl Build(const Impl& pattern, const Spec& spec) const;
  bool BuildRange(const Impl& pattern, const Spec& spec, uint32_t least, Impl* range) const;
  bool BuildRowTiles(const Impl& pattern, const Spec& spec, uint32_t least, Impl* range) const;

  const Impl program_;
  const CostModel& model_;
  std::unordered_map<Question, Cost, HashQuestion> known_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_ROW_TEMPLATE_H_
