// SPDX-License-Identifier: Apache-2.0
// Maps specs to points and back, so that the table can store ranges of them. A spec of any op, together with
// the lines left at the level being filled, is a point in Z>=0^n; the map is a bijection. The table's pages
// and boxes are ranges of these coordinates: see FORMAT.md. Everything here follows from the op's row in
// spec/op.h, so no op has code of its own. Pure functions.
#ifndef KIRSCH_MEMO_COORDINATES_H_
#define KIRSCH_MEMO_COORDINATES_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "memo/memo.h"
#include "spec/spec.h"

namespace kirsch {

using CoordinateList = absl::InlinedVector<uint32_t, 32>;

// Of (spec, available):
//   plane: what kind of spec it is. Op, with the steps of its epilogue, accumulate, threads, active_threads,
//          fixed order, blocks, then of each operand dtype, level, resident, constant, and its layout's kind,
//          order, panel and group; of those that the epilogue takes, level. Specs of different planes have
//          nothing in common.
//   point: where on its plane it is. A size index per dim, a contiguity per operand (but for the
//          epilogue's), then `available`. Solutions change seldom from one point to the next.
//
// The contiguity of an operand is 0 if its rows follow each other (and where there is no leading dimension),
// else 1 + the size index of the leading dimension.
struct Coordinates {
  CoordinateList plane;
  CoordinateList point;

  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

// The coordinates of a spec that may be stored. It aborts if the spec is ideal (a relaxed one), as these are
// never stored.
Coordinates CoordinatesOf(const Spec& spec, Lines available);

// What a search asks, and what a point stands for: the optimum of `spec` with `available` lines.
struct Question {
  Spec spec;
  Lines available = 0;

  friend bool operator==(const Question&, const Question&) = default;
};

// The inverse of CoordinatesOf. Returns nothing if no spec has these coordinates.
std::optional<Question> QuestionAt(const Coordinates& coordinates);

// The place of a size in the order of coordinates, and its inverse. It is a bijection from the sizes 1 ..
// 2^32 - 1 to 0, 1, 2, ... that puts the sizes that tiles usually have first, so that they are neighbours and
// merge into boxes: 1..14, 16, 24, 32, 40, 48, 64, 80, 96, 128, 256, ... 2^20. All other sizes follow,
// ascending.
uint32_t SizeIndex(uint32_t size);
uint32_t SizeAt(uint32_t index);

}  // namespace kirsch

#endif  // KIRSCH_MEMO_COORDINATES_H_
