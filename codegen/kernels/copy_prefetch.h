// SPDX-License-Identifier: Apache-2.0
// Prefetches what a transposing copy reads. A chunk of the copy is as wide as a panel, and its columns are
// rows of the source: a few dozen runs that are read side by side, more than the processor follows by itself.
#ifndef KIRSCH_CODEGEN_KERNELS_COPY_PREFETCH_H_
#define KIRSCH_CODEGEN_KERNELS_COPY_PREFETCH_H_

#include <algorithm>
#include <cstdint>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/pack.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/program/program.h"

namespace kirsch {

// ForSteps() decides how far ahead prefetches are; Row(), called within its body, writes those of one row.
class CopyPrefetch {
 public:
  // The copy reads elements behind `from`, `step` elements of each row of the source at a time. `size`: the
  // variable that the source's stride is, or none. What is passed by reference outlives this.
  CopyPrefetch(const Pack& pack, ProcedureBuilder& builder, VarId from, int64_t step, VarId size)
      : pack_(pack), builder_(builder), from_(from), step_(step), size_(size) {}

  // Writes a loop over the steps of a chunk that is `rows` rows of the source wide: body(number) for each.
  // Only copies from far, that is from beyond L2, prefetch.
  template <typename Body>
  void ForSteps(int64_t rows, const Affine& steps, const Body& body) {
    if (!pack_.from_far || rows == 0) return builder_.Loop(steps, [&](VarId step) { body(IndexOf(step)); });
    if (steps == Affine{}) return;
    // Each step prefetches what is read `ahead` steps later. The last few steps prefetch the next chunk's
    // first ones: the same code, further ahead.
    const int64_t ahead = std::max<int64_t>(kLinesAhead / (rows * LinesOfStep()), 1);
    const Affine before = Left(steps, ahead, false), last = Left(steps, ahead, true);
    const Affine to_next = Plus(NextChunk(rows), Times(before, -step_));
    const auto loop = [&](const Affine& first, const Affine& count, const Affine& further) {
      ahead_ = further;
      builder_.Loop(count, [&](VarId step) { body(Plus(first, step, 1)); });
    };
    if (before == Affine{}) {
      loop(Constant(0), last, to_next);
    } else {
      // A loop of two trips writes the body once for both kinds of steps. `ends` is 0 for the steps before,
      // and 1 for the last ones; it selects where they begin, how many there are, and how far ahead they
      // prefetch.
      builder_.Loop(Constant(2), [&](VarId ends) {
        loop(TimesVariable(before, ends), Plus(before, TimesVariable(Plus(last, Times(before, -1)), ends)),
             Plus(TimesVariable(Plus(to_next, -ahead * step_), ends), ahead * step_));
      });
    }
    ahead_ = {};
  }

  // Prefetches what is as far ahead of a row's step that begins at `at` as ForSteps() says. It does nothing
  // elsewhere.
  void Row(const Affine& at) {
    if (ahead_ == Affine{}) return;
    const Affine line = InBytes(pack_.from.dtype, Plus(at, ahead_));
    for (int64_t i = 0; i < LinesOfStep(); ++i)
      builder_.Do(Prefetch{{from_, Plus(line, i * kLineBytes / Bytes(PointeeOf(pack_.from.dtype)))}});
  }

 private:
  // A copy that waits for memory must have so many lines under way. They are a small part of L1.
  static constexpr int64_t kLinesAhead = 64;

  // Returns how many of so many steps are the last ones, `most` at most, or how many come before these.
  Affine Left(const Affine& steps, int64_t most, bool last) const {
    const Count count{steps, 1, last, most};
    return count.IsConstant() ? Constant(count.constant()) : IndexOf(builder_.Quotient(steps, 1, last, most));
  }
  int64_t LinesOfStep() const { return (Bytes(pack_.from.dtype, step_) + kLineBytes - 1) / kLineBytes; }
  // Returns the distance from the beginning of a chunk to that of the next.
  Affine NextChunk(int64_t rows) const {
    return size_ == kNoVar ? Constant(rows * pack_.from.outer_stride) : Plus(Constant(0), size_, rows);
  }

  const Pack& pack_;
  ProcedureBuilder& builder_;
  const VarId from_;
  const int64_t step_;
  const VarId size_;
  Affine ahead_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_COPY_PREFETCH_H_
