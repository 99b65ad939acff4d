// SPDX-License-Identifier: Apache-2.0
// How a row program is run: in passes along the row, since what hangs on a reduction comes after it.
#ifndef KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_
#define KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_

#include <vector>

namespace kirsch {

struct RowSchedule {
  static constexpr int kRecomputed = -1, kInScratch = -2;

  int lanes = 16;           // of each vector
  std::vector<int> unroll;  // for each pass: vectors at once, each with accumulators of its own
  // For each value that later passes need again, too: kRecomputed; kInScratch, stored and read again; or the
  // number of a result, of f32, in whose place it is until a later pass stores that. Empty: all are
  // recomputed.
  std::vector<int> kept;
  // The first maximum m of some a and sum of exp(a - m) are found in one pass: the sum is rescaled for each
  // block of vectors at once.
  bool online = false;
  // Bytes ahead of its use that each line of an input with other elements for each row is asked for, into L2;
  // where rows do not follow each other, whole rows with so many bytes. 0: it is not.
  int prefetch = 0;
  // The result, stored as it is computed, whose lines are stored past the caches; or kNone. The vectors at a
  // row's ends are stored the usual way.
  static constexpr int kNone = -1;
  int streamed = kNone;

  int KeptAt(int value) const { return kept.empty() ? kRecomputed : kept[static_cast<size_t>(value)]; }
  friend bool operator==(const RowSchedule&, const RowSchedule&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_
