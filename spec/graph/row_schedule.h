// SPDX-License-Identifier: Apache-2.0
// Says how a row program is run: lanes, unrolling, what is kept between passes, and how memory is read and
// written. The program runs in passes along the row, because whatever depends on a reduction comes after it
// (row_passes.h).
#ifndef KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_
#define KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_

#include <vector>

namespace kirsch {

struct RowSchedule {
  static constexpr int kRecomputed = -1, kInScratch = -2;

  int lanes = 16;           // of each vector
  std::vector<int> unroll;  // for each pass: vectors at once, each with accumulators of its own
  // What becomes of each value that later passes need again. kRecomputed: they compute it again. kInScratch:
  // it is stored in the scratch row and read again. A number: it stays in the place of this result, of f32,
  // until a later pass stores the result. An empty list means that all values are recomputed.
  std::vector<int> kept;
  // The first maximum m of some a and sum of exp(a - m) are found in one pass (OnlineSum). The sum is
  // rescaled once for each block of vectors that are processed together.
  bool online = false;
  // How many bytes ahead of its use each line of an input is prefetched into L2. It applies to inputs with
  // other elements for each row. Where rows do not follow each other, the prefetch is as many whole rows
  // ahead as have so many bytes. 0: no prefetch.
  int prefetch = 0;
  // The result whose lines are stored past the caches, as it is computed; or kNone. The vectors at a row's
  // ends are stored the usual way.
  static constexpr int kNone = -1;
  int streamed = kNone;

  int KeptAt(int value) const { return kept.empty() ? kRecomputed : kept[static_cast<size_t>(value)]; }
  friend bool operator==(const RowSchedule&, const RowSchedule&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_ROW_SCHEDULE_H_
