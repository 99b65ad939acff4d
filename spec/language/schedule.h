// SPDX-License-Identifier: Apache-2.0
// Reads and prints schedules: the decisions of a program as text, to be kept, changed by hand, and run again.
//
// A line is a decision. The specs that it makes have their decisions below it, further to the right, in their
// order:
//
// clang-format off
//   tile m 96                  tiles of 96 along dim m
//   parallel n 256 2           tiles of 256 along dim n, shared out over 2 groups of threads
//   move lhs L2                operand lhs made resident at L2
//   move out VRF vectors16     the output made resident in registers: rows of vectors of 16 lanes
//   pack rhs L2 packed16 f32   rhs copied to L2 as f32, in panels of 16 ("packed": one panel; "-col":
//                              column-major)
//   microkernel                the register tile is computed
//   microkernel k 256          likewise; it prefetches the elements of rhs that lie 256 further along dim k
//   search                     left to the search; so is a spec for which there is no line
//   ...                        any decisions, or none, and then those below this line, once: at the spec itself,
//                              or on the way along the children that do most of the work (MainChild)
//   tile m 96; move rhs L2     the same as two lines, the second below the first; lines below it follow the last
//   schedule inner = DECISIONS a name, to be used as a decision further down: its decisions are put there. Those
//                              of its own may also be lines below it, further to the right
//   inner; microkernel         what follows a name is below the last of its decisions (of several below one, the
//                              first's)
// clang-format on
//
// An argument may be "?", a hole: the search fills it in. So may the layout and the type of a pack and the
// layout of a move to registers be left out.
//
// From a '#' on, a line is a comment. A printed schedule has the trip count and the spec of each node there.
#ifndef KIRSCH_SPEC_LANGUAGE_SCHEDULE_H_
#define KIRSCH_SPEC_LANGUAGE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/decision.h"
#include "spec/impl.h"
#include "spec/op.h"
#include "spec/text/text.h"

namespace kirsch {

// Which arguments of a decision are left open: bits.
using Holes = uint8_t;
inline constexpr Holes kHoleDim = 1, kHoleOperand = 2, kHoleLevel = 4, kHoleSize = 8, kHoleParts = 16,
                       kHoleLayout = 32, kHoleType = 64;

// A node of a schedule: the decision for a spec, and the schedules of the specs that it makes.
struct Schedule {
  Decision decision;  // kNone: left to the search
  std::vector<Schedule> children;
  TextPosition position;  // of the decision in the text
  Holes holes = 0;
  bool gap = false;  // "...": decision is kNone, and the first child comes after any decisions

  // True if all below is left to the search.
  bool IsOpen() const { return decision.kind == RewriteKind::kNone && (!gap || children.empty()); }
  // True if the decision is one of those that the node stands for.
  bool Fits(const Decision& other) const;
};

// Copies the decisions of a program. None is left to the search; none has a position, as no text has them.
Schedule MakeSchedule(const Impl& impl);

// Prints one decision, e.g. "tile m 96". The names of dims and operands are those of `op`.
std::string PrintDecision(OpKind op, const Decision& decision);

// The same with its holes, e.g. "tile m ?".
std::string PrintDecision(OpKind op, const Schedule& node);

// Prints the schedule of `impl`, with the trip count and the spec of each node as a comment.
std::string PrintSchedule(const Impl& impl);

// Reads the schedule of a spec of `op`. `file` is what errors call it. Any text is safe to pass. Whether the
// decisions suit a spec is not looked at: the search does that when it follows them. `names`: another text of
// the file with named schedules that this one may use. What is not used of it may be of another op.
// An error is InvalidArgument, one line: "<file>:<line>:<column>: expected <what>, got <text>".
absl::StatusOr<Schedule> ParseSchedule(std::string_view text, std::string_view file, OpKind op,
                                       std::string_view names = "");

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_SCHEDULE_H_
